import { once } from "node:events";
import { createServer, request, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { UrlCheck } from "@svc-gateway/common/features/ext-auth.ts";
import { parseRequestTemplate, type RequestTemplate } from "@svc-gateway/common/features/request-template.ts";
import { routeKey } from "@svc-gateway/common/ir/keys.ts";
import { encodeResource, type Resource } from "@svc-gateway/common/ir/resource.ts";
import type { Route } from "@svc-gateway/common/ir/route.ts";
import { gateAt } from "./ext-auth-support.ts";
import { startGateway, type Gateway } from "./gateway.ts";

export const template = (text: string): RequestTemplate => {
  const parsed = parseRequestTemplate(text);
  if (!parsed.ok) throw new Error(parsed.error.message);
  return parsed.value;
};

/** Returns a check by URL with the fields that ingress-nginx sends. */
export function byUrl(url: string, more: Partial<UrlCheck> = {}): UrlCheck {
  const [, scheme, authority = "", target = ""] = /^(https?):\/\/([^/]+)(.*)$/.exec(url) ?? [];
  return {
    scheme: scheme === "https" ? "https" : "http",
    authority: template(authority),
    target: template(target),
    method: "GET",
    timeoutMs: 30_000,
    set: [
      { name: "X-Original-URL", value: template("$scheme://$http_host$request_uri") },
      { name: "X-Original-Method", value: template("$request_method") },
      { name: "X-Real-IP", value: template("$remote_addr") },
      { name: "X-Empty", value: template("$http_absent") },
    ],
    responseHeaders: ["x-user", "authorization"],
    ...more,
  };
}

type Path = { readonly path: string; readonly to: string; readonly features?: Route["features"] };

export const host = (name: string, ...paths: readonly Path[]): readonly Resource[] =>
  [80, 443].map((port) =>
    encodeResource<"route">(
      routeKey("ingress", port, name === "*" ? { kind: "any", host: "*" } : { kind: "exact", host: name }),
      {
        listener: "ingress",
        inherit: false,
        routes: paths.map(({ path, to, features }, index) => ({
          id: `ingress/ns/${name}:0.${index}`,
          source: { kind: "Ingress", namespace: "ns", name },
          match: { path: { type: "prefix", value: path } },
          backends: [{ weight: 1, service: "ns/x", endpoints: to, protocol: "http1" }],
          ...(features && { features }),
        })),
      },
    ),
  );

type Reply = IncomingMessage & { readonly text: string };

/** A proxy, its backend, and an authorization service that is called by URL. */
export class UrlAuthorization {
  private gateway: Gateway | undefined = undefined;
  private readonly servers: Server[] = [];
  /** The requests that the service received. */
  readonly asked: IncomingMessage[] = [];
  /** The requests that the backend received. */
  readonly seen: IncomingMessage[] = [];
  /** Handles the requests to the service. */
  answer: RequestListener = (_, response) => void response.writeHead(202).end("secret body");

  get records(): Gateway["records"] {
    return this.gateway?.records ?? [];
  }

  async close(): Promise<void> {
    await this.gateway?.close();
    this.gateway = undefined;
    for (const server of this.servers) {
      server.closeAllConnections();
      server.close();
    }
  }

  async listen(listener: RequestListener): Promise<number> {
    const server = createServer(listener);
    this.servers.push(server);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return (server.address() as AddressInfo).port;
  }

  /** Starts everything with the hosts of `resources`; `ns/app/80` is the backend, `ns/auth/80` the service. */
  async start(...resources: readonly (readonly Resource[])[]): Promise<void> {
    const app = await this.listen((message, response) => {
      this.seen.push(message);
      const status = Number(message.headers["x-status"] ?? 200);
      response.writeHead(status, { "Set-Cookie": "app=1" }).end("app");
    });
    const service = await this.listen((message, response) => {
      this.asked.push(message);
      this.answer(message, response);
    });
    this.gateway = await startGateway({
      ports: [app],
      hosts: ["unused.example"],
      resources: [gateAt("ns/app/80", app), gateAt("ns/auth/80", service), ...resources.flat()],
    });
  }

  /** Starts everything with the host a.example behind this check, and the service under /oauth2 of the same host. */
  startGuarded(check: UrlCheck): Promise<void> {
    return this.start(
      host(
        "a.example",
        { path: "/", to: "ns/app/80", features: { "ext-auth": [{ url: check }] } },
        { path: "/oauth2", to: "ns/auth/80" },
      ),
    );
  }

  async send(
    path = "/a%20b?c=d&e=f",
    headers: Record<string, string | string[]> = {},
    options: { method?: string; body?: string } = {},
  ): Promise<Reply> {
    const sent = request({
      host: "127.0.0.1",
      port: this.gateway?.port ?? 0,
      path,
      headers: { host: "a.example", ...headers },
      agent: false,
      method: options.method ?? "GET",
    });
    sent.on("error", () => {});
    sent.end(options.body);
    const [message] = (await once(sent, "response")) as [IncomingMessage];
    let text = "";
    for await (const chunk of message) text += String(chunk);
    return Object.assign(message, { text });
  }
}
