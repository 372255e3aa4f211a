import { once } from "node:events";
import { createServer, request, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { ExternalCheck } from "@svc-gateway/common/features/ext-auth.ts";
import type { EndpointSet } from "@svc-gateway/common/ir/endpoints.ts";
import { endpointsKey } from "@svc-gateway/common/ir/keys.ts";
import { encodeResource, type Resource } from "@svc-gateway/common/ir/resource.ts";
import { startGateway, type Gateway, type Plan } from "./gateway.ts";

export type Reply = IncomingMessage & { readonly text: string };
/** A request that the upstream received. */
export type Seen = IncomingMessage & { readonly text: string };

/** Returns an endpoint set with these ports on loopback. */
export const gateAt = (name: string, ...ports: readonly number[]): Resource => gateWith({}, name, ports);

/** Returns an endpoint set with these ports on loopback and a policy. */
export const gateWith = (
  policy: NonNullable<EndpointSet["policy"]>,
  name: string,
  ports: readonly number[],
): Resource =>
  encodeResource<"endpoints">(endpointsKey(name), {
    policy,
    service: name.split("/", 2).join("/"),
    resolve: "static",
    addresses: [...ports].sort((a, b) => a - b).map((port) => ({ host: "127.0.0.1", port })),
  });

export const gateName = "ns/gate/9000";

export const httpCheck: ExternalCheck = {
  endpoints: gateName,
  protocol: "http1",
  api: "http",
  timeoutMs: 30_000,
  failClosed: true,
  allowedHeaders: ["authorization"],
  allowedResponseHeaders: ["x-user"],
};

export const grpcCheck: ExternalCheck = {
  endpoints: gateName,
  protocol: "http2",
  api: "grpc",
  timeoutMs: 30_000,
  failClosed: true,
  allowedResponseHeaders: ["x-user"],
};

export async function readText(message: AsyncIterable<unknown>): Promise<string> {
  let text = "";
  for await (const chunk of message) text += String(chunk);
  return text;
}

/** A gateway whose one route has authorization services, with its upstream; `close` closes everything. */
export class GuardedGateway {
  gateway!: Gateway;
  /** The requests that the upstream received. */
  readonly seen: Seen[] = [];
  /** Handles each request at the upstream; responds with 200 unless a test replaces it. */
  upstream: RequestListener = (_, response) => void response.end("upstream");
  private readonly closers: (() => Promise<void> | void)[] = [];

  onClose(close: () => Promise<void> | void): void {
    this.closers.push(close);
  }

  async listen(server: Server): Promise<number> {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    this.onClose(() => {
      server.closeAllConnections();
      server.close();
    });
    return (server.address() as AddressInfo).port;
  }

  async start(
    checks: readonly ExternalCheck[],
    resources: readonly Resource[],
    features: Plan["features"] = {},
    flags: readonly string[] = [],
  ): Promise<void> {
    const backend = await this.listen(
      createServer(async (message, response) => {
        this.seen.push(Object.assign(message, { text: await readText(message) }));
        this.upstream(message, response);
      }),
    );
    this.gateway = await startGateway(
      {
        ports: [backend],
        features: { "ext-auth": checks.map((check) => ({ check })), ...features },
        resources,
      },
      flags,
    );
    const { gateway } = this;
    this.onClose(() => gateway.close());
  }

  async send(options: {
    readonly headers?: Record<string, string>;
    readonly method?: string;
    readonly body?: string | Buffer;
  }): Promise<Reply> {
    const { headers = {}, body, method = body === undefined ? "GET" : "POST" } = options;
    const target = { host: "127.0.0.1", port: this.gateway.port, agent: false, method, path: "/a?b=c" };
    const sent = request({ ...target, headers: { host: "a.example", ...headers } });
    // A response before the end of the body can cut off the rest of the body.
    sent.on("error", () => {});
    // A string would be sent in one piece with the head, encoded in UTF-8.
    sent.end(body === undefined ? undefined : Buffer.from(body));
    const [message] = (await once(sent, "response")) as [IncomingMessage];
    return Object.assign(message, { text: await readText(message) });
  }

  async close(): Promise<void> {
    for (const close of this.closers.toReversed()) await close();
  }
}
