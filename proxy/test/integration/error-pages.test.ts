import { once } from "node:events";
import type { IncomingHttpHeaders, RequestListener } from "node:http";
import { connect } from "node:http2";
import type { TokenRules } from "@svc-gateway/common/features/auth-jwt.ts";
import type { ExternalCheck } from "@svc-gateway/common/features/ext-auth.ts";
import { endpointsKey, jwksKey } from "@svc-gateway/common/ir/keys.ts";
import { encodeResource, type Resource } from "@svc-gateway/common/ir/resource.ts";
import type { ErrorPages } from "@svc-gateway/common/features/error-pages.ts";
import { expect } from "chai";
import { makeKey, signToken } from "../auth/tokens.ts";
import { eventually, exchange, startTcp, type Plan } from "./gateway.ts";
import { serveRoute, startRecorder, type ServedRoute } from "./served-route.ts";

const service = { service: "ns/errors", endpoints: "ns/errors/80", protocol: "http1" as const };

const endpoints = (ports: readonly number[]): Resource =>
  encodeResource<"endpoints">(endpointsKey("ns/errors/80"), {
    service: "ns/errors",
    resolve: "static",
    addresses: ports.map((port) => ({ host: "127.0.0.1", port })),
  });

describe("error pages, through the whole data plane", () => {
  let stop: (() => Promise<void>)[] = [];
  /** The requests that the Service of the error pages received. */
  let asked: ServedRoute["seen"] = [];

  afterEach(async () => {
    for (const each of stop.toReversed()) await each();
    stop = [];
  });

  const answer: RequestListener = (request, response) => {
    response.writeHead(418, { "Content-Type": "text/html", "X-Page": "yes" });
    response.end(`page for ${request.headers["x-code"]}`);
  };

  async function serve(
    pages: Partial<ErrorPages>,
    options: {
      readonly backend?: RequestListener;
      readonly page?: RequestListener;
      readonly features?: NonNullable<Plan["features"]>;
      readonly plan?: Partial<Plan>;
      readonly withoutPage?: true;
    } = {},
  ): Promise<ServedRoute> {
    const { upstream, seen } = await startRecorder(options.page ?? answer);
    stop.push(() => upstream.close());
    asked = seen;
    const features = {
      "error-pages": {
        codes: [401, 403, 404, 413, 429, 502, 503, 504],
        page: service,
        fields: [{ name: "X-Namespace", value: "ns" }],
        ...pages,
      },
      ...options.features,
    };
    const served = await serveRoute(features, options.backend, {
      resources: [endpoints(options.withoutPage === true ? [] : [upstream.port])],
      ...options.plan,
    });
    stop.push(() => served.close());
    return served;
  }

  const failing =
    (status: number, headers: Record<string, string> = {}): RequestListener =>
    (_, response) =>
      void response.writeHead(status, headers).end("secret details");

  it("error-pages: a listed status of the backend is replaced by status, headers and body of the Service", async () => {
    const { ask, seen, gateway } = await serve({}, { backend: failing(404) });
    const reply = await ask("/missing?a=b", {
      method: "POST",
      body: "payload",
      headers: {
        ...{ accept: "text/html;q=0.9", "content-type": "text/plain", cookie: "a=b" },
        ...{ "x-code": "200", "x-service-name": "forged", "if-none-match": "*", range: "bytes=0-1" },
      },
    });
    expect([reply.status, reply.body, reply.headers["x-page"]]).to.deep.equal([418, "page for 404", "yes"]);
    expect(seen[0]?.body).to.equal("payload");
    expect(asked).to.have.length(1);
    const { method, url, headers } = asked[0]?.message ?? {};
    expect([method, url, asked[0]?.body]).to.deep.equal(["POST", "/", ""]);
    expect(headers).to.include({
      host: "a.example",
      "x-code": "404",
      "x-format": "text/html;q=0.9",
      "x-original-uri": "/missing?a=b",
      "x-namespace": "ns",
      "x-forwarded-for": "127.0.0.1",
      cookie: "a=b",
    });
    expect(headers?.["x-request-id"]).to.match(/^[0-9a-f]{32}$/);
    expect(headers).not.to.have.any.keys("x-service-name", "if-none-match", "range");
    await eventually(() => gateway.records.length === 1);
    expect(gateway.records[0]).to.include({
      status: 418,
      upstream: "ns/errors",
      path: "/missing",
      attempts: 2,
    });
  });

  it("error-pages: a status that is not listed, and a success, pass unchanged", async () => {
    let status = 500;
    const { ask } = await serve(
      {},
      { backend: (_, response) => void response.writeHead(status).end("mine") },
    );
    const failed = await ask("/");
    expect([failed.status, failed.body]).to.deep.equal([500, "mine"]);
    status = 200;
    expect((await ask("/")).body).to.equal("mine");
    expect(asked).to.have.length(0);
  });

  it("error-pages: errors of the proxy itself are replaced, before and after a backend was chosen", async () => {
    const denied = await serve({}, { features: { "ip-access-control": { deny: ["127.0.0.0/8"] } } });
    expect((await denied.ask("/x")).body).to.equal("page for 403");
    const large = await serve({}, { features: { "max-body-size": { maxBytes: 3 } } });
    expect((await large.ask("/x", { method: "PUT", body: "12345" })).body).to.equal("page for 413");
    expect(asked[0]?.body).to.equal("");
    const none = await serve({}, { plan: { ports: [] } });
    expect((await none.ask("/x")).body).to.equal("page for 503");
    const broken = await startTcp((socket) => void socket.destroy());
    stop.push(() => broken.close());
    const cut = await serve({}, { plan: { ports: [broken.port] } });
    expect((await cut.ask("/x")).body).to.equal("page for 502");
    await eventually(() => cut.gateway.records.length === 1);
    expect(cut.gateway.records[0]?.error).to.be.a("string");
  });

  it("error-pages: a backend that takes too long is replaced, and its late answer is dropped", async () => {
    let respond: (() => void) | undefined;
    const { ask, gateway } = await serve(
      {},
      {
        backend: (_, response) => (respond = () => void response.end("late")),
        page(_, response) {
          respond?.();
          setImmediate(() => response.end("page"));
        },
        features: { timeouts: { readTimeoutMs: 50 } },
      },
    );
    expect((await ask("/")).body).to.equal("page");
    await eventually(() => gateway.records.length === 1);
    expect(gateway.records[0]).to.include({ status: 200, upstream: "ns/errors" });
  });

  it("error-pages: errors of the Service go to the client as they are", async () => {
    const { ask } = await serve({}, { backend: failing(404), page: failing(503, { "x-page": "error" }) });
    const reply = await ask("/");
    expect([reply.status, reply.body, reply.headers["x-page"]]).to.deep.equal([
      503,
      "secret details",
      "error",
    ]);
    expect(asked).to.have.length(1);
  });

  it("error-pages: where the Service has no endpoint or fails, the proxy answers with the status", async () => {
    const none = await serve({}, { backend: failing(404), withoutPage: true });
    const first = await none.ask("/");
    expect([first.status, first.body]).to.deep.equal([404, "404 Not Found\n"]);
    const cut = await serve({}, { backend: failing(404), page: (request) => void request.socket.destroy() });
    const second = await cut.ask("/");
    expect([second.status, second.body]).to.deep.equal([404, "404 Not Found\n"]);
    const nobody = await serve({ page: undefined }, { backend: failing(404) });
    expect((await nobody.ask("/")).body).to.equal("404 Not Found\n");
  });

  it("error-pages: errors of backends stay where the route replaces those of the proxy only", async () => {
    const { ask } = await serve({ ownOnly: true }, { backend: failing(404) });
    expect((await ask("/")).body).to.equal("secret details");
    const denied = await serve(
      { ownOnly: true },
      { features: { "ip-access-control": { deny: ["127.0.0.0/8"] } } },
    );
    expect((await denied.ask("/")).body).to.equal("page for 403");
  });

  it("error-pages: a challenge for credentials stays on the page, of the proxy and of the backend", async () => {
    const own = await serve({}, { features: { "auth-basic-secret": [{ htpasswd: "ns/users" }] } });
    expect((await own.ask("/")).body).to.equal("page for 503");
    const theirs = await serve({}, { backend: failing(401, { "www-authenticate": 'Basic realm="app"' }) });
    const reply = await theirs.ask("/");
    expect([reply.body, reply.headers["www-authenticate"]]).to.deep.equal([
      "page for 401",
      'Basic realm="app"',
    ]);
  });

  describe("error-pages: identity headers that a client forges", () => {
    const key = makeKey("EC", "ES256", "one");
    const rules: TokenRules = {
      keySet: "ns/id",
      issuer: "https://id.example",
      audiences: ["shop"],
      fromHeaders: [{ name: "X-Token", prefix: "" }],
      forward: false,
      claimToHeaders: [{ claim: "sub", header: "X-Sub" }],
      payloadHeader: "X-Payload",
    };
    const resources = [encodeResource<"jwks">(jwksKey("ns/id"), { keys: [key.public] })];
    const check: ExternalCheck = {
      ...{ endpoints: "ns/gate/80", protocol: "http1", api: "http", timeoutMs: 30_000, failClosed: true },
      allowedResponseHeaders: ["x-user"],
    };
    const users = { htpasswd: "ns/users", hidesCredentials: true } as const;
    const denied = { "ip-access-control": { deny: ["127.0.0.0/8"] } };
    const authorization = `Basic ${Buffer.from("alice:a").toString("base64")}`;
    const forged = { "x-sub": "admin", x_sub: "admin", "x-payload": "e30", "x-user": "admin", authorization };

    /** The headers that the Service of the page gets for a request with forged headers. */
    async function pageHeaders(
      features: NonNullable<Plan["features"]>,
      headers: Record<string, string> = forged,
      backend?: RequestListener,
    ): Promise<IncomingHttpHeaders | undefined> {
      const { upstream, seen } = await startRecorder(answer);
      stop.push(() => upstream.close());
      const pages = { codes: [401, 403, 502, 503], page: service, fields: [] };
      const served = await serveRoute({ "error-pages": pages, ...features }, backend, {
        resources: [...resources, endpoints([upstream.port])],
      });
      stop.push(() => served.close());
      expect((await served.ask("/", { headers })).status).to.equal(418);
      return seen[0]?.message.headers;
    }

    const jwt = { "auth-jwt": [{ rules }] };
    for (const [name, features, kept] of [
      ["auth-jwt refuses", jwt, ["x-user", "authorization"]],
      ["auth-jwt cannot check", { "auth-jwt": [{ rules }, {}] }, ["x-user", "authorization"]],
      ["an address rule before auth-jwt refuses", { ...denied, ...jwt }, ["x-user", "authorization"]],
      [
        "an address rule before ext-auth refuses",
        { ...denied, "ext-auth": [{ check }] },
        ["x-sub", "x-payload", "authorization"],
      ],
      ["ext-auth cannot check", { "ext-auth": [{ check }, {}] }, ["x-sub", "x-payload", "authorization"]],
      [
        "auth-basic-secret with hidden credentials cannot check",
        { "auth-basic-secret": [users, {}] },
        ["x-sub", "x-payload", "x-user"],
      ],
      [
        "satisfy: any admits no check",
        { ...denied, ...jwt, "ext-auth": [{ check }], satisfy: "any" },
        ["authorization"],
      ],
    ] as const satisfies readonly (readonly [string, NonNullable<Plan["features"]>, readonly string[]])[]) {
      it(`error-pages: forged identity headers do not reach the Service when ${name}`, async () => {
        const headers = await pageHeaders(features);
        const sent = ["x-sub", "x_sub", "x-payload", "x-user", "authorization"];
        const expected = kept.flatMap((field) => (field === "x-sub" ? [field, "x_sub"] : [field]));
        expect(sent.filter((field) => headers?.[field] !== undefined)).to.have.members(expected);
      });
    }

    it("error-pages: identity headers that a check has set reach the Service when the backend fails", async () => {
      const headers = await pageHeaders(jwt, { ...forged, "x-token": await signToken(key) }, failing(502));
      expect(headers).to.include({ "x-sub": "alice", "x-code": "502" });
      expect(headers).not.to.have.property("x_sub");
    });
  });

  it("error-pages: the response filters of the route change the page as any response", async () => {
    const { ask } = await serve(
      {},
      {
        backend: failing(404),
        features: { "response-headers": { set: [{ name: "X-Set", value: "1" }], remove: ["X-Page"] } },
      },
    );
    const { headers } = await ask("/");
    expect(headers["x-set"]).to.equal("1");
    expect(headers).not.to.have.property("x-page");
  });

  it("error-pages: a HEAD request gets the head of the page, and the connection serves the next request", async () => {
    const { gateway } = await serve({}, { backend: failing(404) });
    const bytes = ["HEAD /x", "GET /y"]
      .map(
        (line, index) =>
          `${line} HTTP/1.1\r\nHost: a.example\r\n${index === 1 ? "Connection: close\r\n" : ""}\r\n`,
      )
      .join("");
    const text = await exchange(gateway.port, bytes);
    expect(text.match(/HTTP\/1\.1 418/g)).to.have.length(2);
    expect(text.match(/page for 404/g)).to.have.length(1);
    expect(asked.map(({ message }) => message.method)).to.deep.equal(["HEAD", "GET"]);
  });

  it("error-pages: errors of gRPC stay as they are", async () => {
    const { ask } = await serve({}, { plan: { ports: [] } });
    const reply = await ask("/pkg.Service/Call", {
      method: "POST",
      headers: { "content-type": "application/grpc", te: "trailers" },
    });
    expect([reply.status, reply.headers["grpc-status"]]).to.deep.equal([200, "14"]);
    expect(asked).to.have.length(0);
  });

  it("error-pages: a refused WebSocket handshake gets the page as an ordinary response", async () => {
    const { ask } = await serve({}, { backend: failing(403) });
    const reply = await ask("/socket", {
      headers: {
        ...{ connection: "upgrade", upgrade: "websocket", "sec-websocket-version": "13" },
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
      },
    });
    expect([reply.status, reply.body]).to.deep.equal([418, "page for 403"]);
    expect(asked[0]?.message.headers).not.to.have.property("upgrade");
  });

  it("error-pages: clients of HTTP/2 get pages, and their streams end", async () => {
    const { gateway } = await serve({}, { backend: failing(404) });
    const session = connect(`http://127.0.0.1:${gateway.port}`);
    const stream = session.request({ ":path": "/x", ":authority": "a.example", ":method": "POST" });
    stream.end("body");
    const [headers] = (await once(stream, "response")) as [Record<string, unknown>];
    let body = "";
    for await (const chunk of stream) body += String(chunk);
    session.close();
    expect([headers[":status"], body]).to.deep.equal([418, "page for 404"]);
  });

  it("error-pages: retries come first, and the page follows the last attempt", async () => {
    const { ask, seen } = await serve(
      {},
      { backend: failing(503), features: { retry: { attempts: 2, codes: [503] } } },
    );
    expect((await ask("/")).body).to.equal("page for 503");
    expect(seen).to.have.length(3);
  });

  it("error-pages: the stand-in gets requests without endpoint as they are, and its answer is not replaced", async () => {
    const { ask, gateway } = await serve(
      { standIn: service, page: service },
      { page: failing(404), plan: { ports: [] } },
    );
    const reply = await ask("/path?q=1", { method: "PUT", body: "payload", headers: { accept: "a/b" } });
    expect([reply.status, reply.body]).to.deep.equal([404, "secret details"]);
    expect(asked).to.have.length(1);
    const { method, url, headers } = asked[0]?.message ?? {};
    expect([method, url, asked[0]?.body]).to.deep.equal(["PUT", "/path?q=1", "payload"]);
    expect(headers).to.include({ "x-code": "503", "x-format": "a/b", "x-namespace": "ns" });
    await eventually(() => gateway.records.length === 1);
    expect(gateway.records[0]).to.include({ upstream: "ns/errors", status: 404 });
  });

  it("error-pages: a stand-in without endpoints leaves the error to the proxy", async () => {
    const { ask } = await serve({ codes: [], standIn: service }, { plan: { ports: [] }, withoutPage: true });
    expect((await ask("/")).status).to.equal(503);
  });
});
