import { once } from "node:events";
import { createServer, request, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import type { UrlCheck } from "@svc-gateway/common/features/ext-auth.ts";
import { parseRequestTemplate, type RequestTemplate } from "@svc-gateway/common/features/request-template.ts";
import { routeKey } from "@svc-gateway/common/ir/keys.ts";
import { encodeResource, type Resource } from "@svc-gateway/common/ir/resource.ts";
import type { Route } from "@svc-gateway/common/ir/route.ts";
import { gateAt } from "./ext-auth-support.ts";
import { eventually, startGateway, type Gateway } from "./gateway.ts";

const template = (text: string): RequestTemplate => {
  const parsed = parseRequestTemplate(text);
  if (!parsed.ok) throw new Error(parsed.error.message);
  return parsed.value;
};

/** A check by URL with the fields that ingress-nginx sends. */
function byUrl(url: string, more: Partial<UrlCheck> = {}): UrlCheck {
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

const host = (name: string, ...paths: readonly Path[]): readonly Resource[] =>
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

describe("ext-auth by URL, through the whole data plane", () => {
  let gateway: Gateway | undefined;
  let servers: Server[];
  let asked: IncomingMessage[];
  let seen: IncomingMessage[];
  let answer: RequestListener;

  beforeEach(() => {
    [servers, asked, seen, gateway] = [[], [], [], undefined];
    answer = (_, response) => void response.writeHead(202).end("secret body");
  });
  afterEach(async () => {
    await gateway?.close();
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
  });

  async function listen(listener: RequestListener): Promise<number> {
    const server = createServer(listener);
    servers.push(server);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return (server.address() as AddressInfo).port;
  }

  /** Hosts of the plan besides the usual one; `ns/app/80` is the backend, `ns/auth/80` the service. */
  async function start(...resources: readonly (readonly Resource[])[]): Promise<void> {
    const app = await listen((message, response) => {
      seen.push(message);
      const status = Number(message.headers["x-status"] ?? 200);
      response.writeHead(status, { "Set-Cookie": "app=1" }).end("app");
    });
    const service = await listen((message, response) => {
      asked.push(message);
      answer(message, response);
    });
    gateway = await startGateway({
      ports: [app],
      hosts: ["unused.example"],
      resources: [gateAt("ns/app/80", app), gateAt("ns/auth/80", service), ...resources.flat()],
    });
  }

  /** The host a.example behind this check, with the service under /oauth2 of the same host. */
  const guarded = (check: UrlCheck): Promise<void> =>
    start(
      host(
        "a.example",
        { path: "/", to: "ns/app/80", features: { "ext-auth": [{ url: check }] } },
        { path: "/oauth2", to: "ns/auth/80" },
      ),
    );

  async function send(
    path = "/a%20b?c=d&e=f",
    headers: Record<string, string | string[]> = {},
    options: { method?: string; body?: string } = {},
  ): Promise<Reply> {
    const sent = request({
      host: "127.0.0.1",
      port: gateway?.port ?? 0,
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

  it("ext-auth by URL: a 2xx of the own host admits, and its fields replace or remove those of the client", async () => {
    await guarded(byUrl("http://$host/oauth2/auth?x=1"));
    answer = (_, response) =>
      void response.writeHead(202, { "X-User": "ann", "X-Other": "no" }).end("secret");
    const spoofed = { "x-user": "root", X_User: "root", authorization: "Bearer mine", "x-mine": "1" };
    const reply = await send("/a%20b?c=d", spoofed, { method: "POST", body: "payload" });
    expect([reply.statusCode, reply.text]).to.deep.equal([200, "app"]);
    expect(seen[0]?.headers).to.include({ "x-user": "ann", "x-mine": "1" });
    expect(seen[0]?.headers).not.to.have.any.keys("authorization", "x-other", "x_user");
    const [question] = asked;
    expect(question?.method).to.equal("GET");
    expect(question?.url).to.equal("/oauth2/auth?x=1");
    expect(question?.headers).to.include({
      host: "a.example",
      authorization: "Bearer mine",
      "x-user": "root",
      "x-mine": "1",
      "x-original-url": "http://a.example/a%20b?c=d",
      "x-original-method": "POST",
      "x-real-ip": "127.0.0.1",
    });
    expect(question?.headers).not.to.have.any.keys("content-length", "transfer-encoding", "x-empty");
  });

  it("ext-auth by URL: fields with which a client could name another URL do not reach the service", async () => {
    await guarded(byUrl("http://$host/oauth2/auth"));
    await send("/a", {
      "X-Original-URL": "http://x/",
      "X-Original-URI": "/x",
      X_Original_Method: "PUT",
      "X-Scheme": "x",
    });
    expect(asked[0]?.headers["x-original-url"]).to.equal("http://a.example/a");
    expect(asked[0]?.headers).not.to.have.any.keys("x-original-uri", "x_original_method", "x-scheme");
  });

  it("ext-auth by URL: a 401 goes to the client with its challenges and without its body", async () => {
    await guarded(byUrl("http://$host/oauth2/auth"));
    answer = (_, response) =>
      void response.writeHead(401, { "WWW-Authenticate": ["Bearer", "Basic"], "X-User": "no" }).end("secret");
    const reply = await send();
    expect(reply.statusCode).to.equal(401);
    expect(reply.headers["www-authenticate"]).to.equal("Bearer, Basic");
    expect(reply.headers).not.to.have.property("x-user");
    expect(reply.text).not.to.contain("secret");
    expect(seen).to.deep.equal([]);
  });

  it("ext-auth by URL: a 403 refuses, and every other status or a broken answer is 500", async () => {
    await guarded(byUrl("http://$host/oauth2/auth"));
    for (const [status, expected] of [
      [403, 403],
      [302, 500],
      [404, 500],
      [304, 500],
      [503, 500],
    ] as const) {
      answer = (_, response) => void response.writeHead(status, { Location: "http://x/" }).end("secret");
      const reply = await send();
      expect(reply.statusCode, String(status)).to.equal(expected);
      expect(reply.headers).not.to.have.property("location");
      expect(reply.text).not.to.contain("secret");
    }
    answer = (message) => void message.socket.destroy();
    expect((await send()).statusCode).to.equal(500);
    expect(seen).to.deep.equal([]);
  });

  it("ext-auth by URL: a 401 becomes a redirect to sign in, with the escaped URL and the cookie of the service", async () => {
    const signIn = template(
      "https://$host/oauth2/start?rd=$pass_access_scheme://$http_host$escaped_request_uri",
    );
    await guarded(byUrl("http://$host/oauth2/auth", { signIn }));
    answer = (_, response) =>
      void response.writeHead(401, { "WWW-Authenticate": "Bearer", "Set-Cookie": ["csrf=1", "b=2"] }).end();
    const reply = await send("/a?b=c&d=e%0d%0aX:y");
    expect(reply.statusCode).to.equal(302);
    expect(reply.headers.location).to.equal(
      "https://a.example/oauth2/start?rd=http://a.example%2Fa%3Fb%3Dc%26d%3De%250d%250aX%3Ay",
    );
    expect(reply.headers["set-cookie"]).to.deep.equal(["csrf=1"]);
    expect(reply.headers).not.to.have.property("www-authenticate");
    answer = (_, response) => void response.writeHead(403).end();
    expect((await send()).statusCode).to.equal(403);
  });

  it("ext-auth by URL: the first cookie of the service is added to a success and not to an error, unless always", async () => {
    for (const [always, onError] of [
      [undefined, ["app=1"]],
      [true, ["app=1", "renewed=1"]],
    ] as const) {
      await gateway?.close();
      await guarded(byUrl("http://$host/oauth2/auth", always && { alwaysSetsCookie: true }));
      answer = (_, response) => void response.writeHead(200, { "Set-Cookie": ["renewed=1", "b=2"] }).end();
      expect((await send("/")).headers["set-cookie"]).to.deep.equal(["app=1", "renewed=1"]);
      expect((await send("/", { "x-status": "404" })).headers["set-cookie"]).to.deep.equal(onError);
      answer = (_, response) => void response.writeHead(401, { "Set-Cookie": "renewed=1" }).end();
      expect((await send("/")).headers["set-cookie"]).to.deep.equal(always && ["renewed=1"]);
    }
  });

  it("ext-auth by URL: the method of the check is sent without a body", async () => {
    await guarded(byUrl("http://$host/oauth2/auth", { method: "POST" }));
    expect((await send("/", {}, { method: "PUT", body: "x" })).statusCode).to.equal(200);
    expect(asked[0]?.method).to.equal("POST");
    expect(asked[0]?.headers["content-length"] ?? "0").to.equal("0");
  });

  it("ext-auth by URL: another host of the gateway is asked as its client would be, with its own features", async () => {
    const denied = { "ip-access-control": { deny: ["127.0.0.0/8"] } };
    await start(
      host("a.example", {
        path: "/",
        to: "ns/app/80",
        features: { "ext-auth": [{ url: byUrl("http://auth.example/v") }] },
      }),
      host("b.example", {
        path: "/",
        to: "ns/app/80",
        features: { "ext-auth": [{ url: byUrl("http://shut.example/v") }] },
      }),
      host("auth.example", { path: "/", to: "ns/auth/80" }),
      host("shut.example", { path: "/", to: "ns/auth/80", features: denied }),
    );
    expect((await send()).statusCode).to.equal(200);
    expect(asked[0]?.headers).to.include({ host: "auth.example", "x-forwarded-host": "auth.example" });
    expect((await send("/", { host: "b.example" })).statusCode).to.equal(403);
    expect(asked).to.have.lengthOf(1);
  });

  it("ext-auth by URL: an authorization URL on the way of another one is a loop and 500", async () => {
    await start(
      host("a.example", {
        path: "/",
        to: "ns/app/80",
        features: { "ext-auth": [{ url: byUrl("http://$host/auth") }] },
      }),
    );
    expect((await send()).statusCode).to.equal(500);
    expect([asked.length, seen.length]).to.deep.equal([0, 0]);
    await eventually(() => gateway?.records.length === 2);
    expect(gateway?.records.map(({ error }) => error)).to.include("authorization loop");
  });

  it("ext-auth by URL: a host that the gateway does not serve by its name is 503, even where a catch-all serves everything", async () => {
    const elsewhere = { "ext-auth": [{ url: byUrl("http://169.254.169.254/latest") }] };
    await start(
      host("a.example", { path: "/", to: "ns/app/80", features: elsewhere }),
      host("*", { path: "/", to: "ns/auth/80" }),
    );
    expect((await send()).statusCode).to.equal(503);
    expect([asked.length, seen.length]).to.deep.equal([0, 0]);
  });

  it("ext-auth by URL: a request that only a catch-all serves may ask its own host", async () => {
    await start(
      host(
        "*",
        {
          path: "/",
          to: "ns/app/80",
          features: { "ext-auth": [{ url: byUrl("http://$host/oauth2/auth") }] },
        },
        { path: "/oauth2", to: "ns/auth/80" },
      ),
    );
    expect((await send("/", { host: "any.example" })).statusCode).to.equal(200);
    expect(asked).to.have.lengthOf(1);
  });

  it("ext-auth by URL: an https URL is asked where a load balancer ends TLS, and a foreign port is not", async () => {
    await start(
      host(
        "a.example",
        {
          path: "/",
          to: "ns/app/80",
          features: { "ext-auth": [{ url: byUrl("https://$host/oauth2/auth") }] },
        },
        { path: "/oauth2", to: "ns/auth/80" },
      ),
      host(
        "b.example",
        {
          path: "/",
          to: "ns/app/80",
          features: { "ext-auth": [{ url: byUrl("http://$host:9000/oauth2/auth") }] },
        },
        { path: "/oauth2", to: "ns/auth/80" },
      ),
    );
    expect((await send()).statusCode).to.equal(200);
    expect((await send("/", { host: "b.example" })).statusCode).to.equal(503);
    expect(asked).to.have.lengthOf(1);
  });

  it("ext-auth by URL: a Service is asked directly, with the host of the URL", async () => {
    const service = { endpoints: "ns/auth/80", protocol: "http1" } as const;
    await start(
      host("a.example", {
        path: "/",
        to: "ns/app/80",
        features: {
          "ext-auth": [{ url: byUrl("http://auth.ns.svc.cluster.local:4180/v?u=$request_uri", { service }) }],
        },
      }),
    );
    expect((await send("/x?y=z", { authorization: "a" })).statusCode).to.equal(200);
    expect(asked[0]?.url).to.equal("/v?u=/x?y=z");
    expect(asked[0]?.headers).to.include({ host: "auth.ns.svc.cluster.local:4180", authorization: "a" });
    answer = (_, response) => void response.writeHead(401).end();
    expect((await send()).statusCode).to.equal(401);
    answer = (message) => void message.socket.destroy();
    expect((await send()).statusCode).to.equal(500);
  });

  it("ext-auth by URL: a service without endpoints, and an entry of a newer controller, let no request in", async () => {
    const service = { endpoints: "ns/none/80", protocol: "http1" } as const;
    await start(
      [gateAt("ns/none/80")],
      host("a.example", {
        path: "/",
        to: "ns/app/80",
        features: { "ext-auth": [{ url: byUrl("http://x/v", { service }) }] },
      }),
      host("b.example", { path: "/", to: "ns/app/80", features: { "ext-auth": [{}] } }),
    );
    expect((await send()).statusCode).to.equal(500);
    expect((await send("/", { host: "b.example" })).statusCode).to.equal(503);
    expect(seen).to.deep.equal([]);
  });

  it("ext-auth by URL: a service that does not answer in time is 500", async () => {
    await guarded(byUrl("http://$host/oauth2/auth", { timeoutMs: 20 }));
    answer = () => {};
    expect((await send()).statusCode).to.equal(500);
    expect(seen).to.deep.equal([]);
  });

  describe("cache", () => {
    const cached = (
      key: string,
      times: NonNullable<UrlCheck["cache"]>["times"] = [{ ms: 600_000 }],
    ): UrlCheck => byUrl("http://$host/oauth2/auth", { cache: { key: template(key), times } });

    it("ext-auth by URL: answers are remembered by the key, with the fields for the upstream", async () => {
      await guarded(cached("$cookie_session"));
      answer = (message, response) =>
        void response
          .writeHead(message.headers.cookie?.includes("good") === true ? 200 : 401, { "X-User": "ann" })
          .end();
      for (let times = 0; times < 2; times++) {
        expect((await send("/", { cookie: "session=good" })).statusCode).to.equal(200);
        expect((await send("/", { cookie: "session=bad" })).statusCode).to.equal(401);
      }
      expect(asked).to.have.lengthOf(2);
      expect(seen.map(({ headers }) => headers["x-user"])).to.deep.equal(["ann", "ann"]);
    });

    it("ext-auth by URL: a request without any part of the client in its key is never answered by another's answer", async () => {
      await guarded(cached("$host$cookie_session"));
      answer = (message, response) =>
        void response.writeHead(message.headers["x-token"] === "t" ? 200 : 401).end();
      expect((await send("/", { "x-token": "t" })).statusCode).to.equal(200);
      expect((await send("/")).statusCode).to.equal(401);
    });

    it("ext-auth by URL: a key with the name of a user keeps its passwords apart", async () => {
      await guarded(cached("$remote_user"));
      const basic = (text: string): Record<string, string> => ({
        authorization: `Basic ${Buffer.from(text).toString("base64")}`,
      });
      answer = (message, response) =>
        void response
          .writeHead(message.headers.authorization === basic("ann:right")["authorization"] ? 200 : 401)
          .end();
      expect((await send("/", basic("ann:right"))).statusCode).to.equal(200);
      expect((await send("/", basic("ann:wrong"))).statusCode).to.equal(401);
      expect((await send("/", basic("ann:right"))).statusCode).to.equal(200);
      expect(asked).to.have.lengthOf(2);
    });

    it("ext-auth by URL: parts of a key do not run into each other", async () => {
      await guarded(cached("$cookie_a$cookie_b"));
      answer = (message, response) =>
        void response.writeHead(message.headers.cookie === "a=xy; b=z" ? 200 : 401).end();
      expect((await send("/", { cookie: "a=xy; b=z" })).statusCode).to.equal(200);
      expect((await send("/", { cookie: "a=x; b=yz" })).statusCode).to.equal(401);
    });

    for (const [what, headers] of [
      ["a cookie", { "Set-Cookie": "a=b" }],
      ["Vary", { Vary: "Cookie" }],
      ["no-store", { "Cache-Control": "no-store" }],
      ["private", { "Cache-Control": 'private="x", max-age=100' }],
      ["max-age=0", { "Cache-Control": "max-age=0" }],
      ["a date in the past", { Expires: "Thu, 01 Jan 1970 00:00:00 GMT" }],
      ["an invalid date", { Expires: "0" }],
    ] as const) {
      it(`ext-auth by URL: an answer with ${what} is not remembered`, async () => {
        await guarded(cached("$cookie_s"));
        answer = (_, response) => void response.writeHead(200, headers).end();
        for (let times = 0; times < 2; times++) await send("/", { cookie: "s=1" });
        expect(asked).to.have.lengthOf(2);
      });
    }

    it("ext-auth by URL: only the listed statuses are remembered", async () => {
      await guarded(cached("$cookie_s", [{ statuses: [200, 202], ms: 600_000 }]));
      for (const status of [401, 403, 500, 200]) {
        answer = (_, response) => void response.writeHead(status).end();
        await send("/", { cookie: "s=1" });
      }
      expect((await send("/", { cookie: "s=1" })).statusCode).to.equal(200);
      expect(asked).to.have.lengthOf(4);
    });
  });
});
