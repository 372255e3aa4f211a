import { once } from "node:events";
import { request as httpRequest, type IncomingMessage, type RequestListener } from "node:http";
import { request as httpsRequest } from "node:https";
import { expect } from "chai";
import { issueCertificate } from "../tls/certificates.ts";
import {
  eventually,
  exchange,
  routeId,
  startGateway,
  startHttp,
  startTcp,
  type Gateway,
  type Plan,
} from "./gateway.ts";

const host = "a.example";

async function textOf(message: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of message) body += String(chunk);
  return body;
}

describe("features of a route, through the whole data plane", () => {
  let gateway: Gateway;
  let seen: IncomingMessage[];
  let stop: (() => Promise<void>)[] = [];

  afterEach(async () => {
    for (const each of stop.toReversed()) await each();
    stop = [];
  });

  /** Serves a route with these features in front of an upstream that remembers its requests. */
  async function serve(
    features: NonNullable<Plan["features"]>,
    respond: RequestListener = (_, response) => void response.end("upstream"),
    plan: Partial<Plan> = {},
  ): Promise<void> {
    seen = [];
    const upstream = await startHttp((request, response) => {
      seen.push(request);
      respond(request, response);
    });
    stop.push(() => upstream.close());
    gateway = await startGateway({ ports: [upstream.port], features, ...plan });
    const started = gateway;
    stop.push(() => started.close());
  }

  async function get(
    path: string,
    { headers = {}, tls = false }: { readonly headers?: Record<string, string>; readonly tls?: boolean } = {},
  ): Promise<{ readonly status: number; readonly message: IncomingMessage; readonly body: string }> {
    const options = { host: "127.0.0.1", path, headers: { host, ...headers }, agent: false };
    const request = tls
      ? httpsRequest({ ...options, port: gateway.tlsPort, servername: host, rejectUnauthorized: false })
      : httpRequest({ ...options, port: gateway.port });
    request.end();
    const [message] = (await once(request, "response")) as [IncomingMessage];
    return { status: message.statusCode ?? 0, message, body: await textOf(message) };
  }

  it("use-regex: a path that is too long for regex matching gets 414, and the next request is served", async () => {
    await serve({}, undefined, { path: { type: "regex", value: "/.*a.{951}z?$" } });
    const long = `/${"ab".repeat(6000)}`;
    expect((await get(long)).status).to.equal(414);
    expect((await get(`/${"ab".repeat(600)}`)).status).to.equal(200);
    expect(gateway.records.map(({ status, error }) => [status, error])).to.deep.equal([
      [414, "request too long for regex matching"],
      [200, undefined],
    ]);
    expect(seen).to.have.lengthOf(1);
  });

  it("request-headers: the upstream sees the changed fields and host", async () => {
    await serve({
      "request-headers": {
        set: [
          { name: "X-Set", value: "gateway" },
          { name: "Host", value: "internal.example" },
          { name: "X-Forwarded-For", value: "192.0.2.9" },
        ],
        add: [{ name: "X-Add", value: "two" }],
        remove: ["X-Gone"],
      },
    });
    const sent = { "x-set": "client", "x-add": "one", "x-gone": "1", "x-kept": "1" };
    expect((await get("/", { headers: sent })).status).to.equal(200);
    expect(seen[0]?.headers).to.include({
      host: "internal.example",
      "x-set": "gateway",
      "x-add": "one, two",
      "x-kept": "1",
      "x-forwarded-for": "192.0.2.9",
      "x-forwarded-host": host,
    });
    expect(seen[0]?.headers).not.to.have.property("x-gone");
    expect(gateway.records[0]?.host).to.equal(host);
  });

  it("response-headers: the client sees the changed fields, on answers of the proxy too", async () => {
    await serve(
      {
        "response-headers": {
          set: [{ name: "X-Set", value: "gateway" }],
          add: [{ name: "Set-Cookie", value: "b=2" }],
          remove: ["X-Gone"],
        },
      },
      (_, response) => {
        response.setHeader("x-set", "upstream").setHeader("set-cookie", "a=1").setHeader("x-gone", "1");
        response.end("ok");
      },
    );
    const { message, body } = await get("/");
    expect(body).to.equal("ok");
    expect(message.headers).to.deep.include({ "x-set": "gateway", "set-cookie": ["a=1", "b=2"] });
    expect(message.headers).not.to.have.property("x-gone");
    const features = { "response-headers": { set: [{ name: "X-Set", value: "gateway" }] } };
    gateway.update({ ports: [], features });
    const refused = await get("/");
    expect(refused.status).to.equal(503);
    expect(refused.message.headers["x-set"]).to.equal("gateway");
  });

  it("response-headers: Date is absent where it is removed, and not added again", async () => {
    await serve({ "response-headers": { remove: ["DATE"] } });
    expect((await get("/")).message.headers).not.to.have.property("date");
    gateway.update({ ports: [], features: { "response-headers": { remove: ["date"] } } });
    const refused = await get("/");
    expect(refused.status).to.equal(503);
    expect(refused.message.headers).not.to.have.property("date");
    gateway.update({ ports: [] });
    expect((await get("/")).message.headers).to.have.property("date");
  });

  it("response-headers: the answer to a WebSocket handshake is changed like any other", async () => {
    const upstream = await startTcp((socket) => {
      socket.once("data", () =>
        socket.end(
          "HTTP/1.1 101 x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-Gone: 1\r\n\r\ntunnelled",
        ),
      );
    });
    stop.push(() => upstream.close());
    const features = {
      "response-headers": { set: [{ name: "X-Set", value: "gateway" }], remove: ["x-gone"] },
    };
    gateway = await startGateway({ ports: [upstream.port], features });
    const started = gateway;
    stop.push(() => started.close());
    const answer = await exchange(
      gateway.port,
      `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
    );
    expect(answer).to.match(/^HTTP\/1\.1 101 /);
    expect(answer)
      .to.match(/^X-Set: gateway\r$/m)
      .and.to.match(/^Upgrade: websocket\r$/m);
    expect(answer).not.to.match(/^X-Gone:/m);
    expect(answer.endsWith("\r\n\r\ntunnelled")).to.equal(true);
  });

  it("redirect: a request is redirected without the upstream, with an absolute Location and an empty body", async () => {
    const redirect = {
      hostname: "b.example",
      path: { type: "full", value: "/new" },
      statusCode: 307,
    } as const;
    await serve({ redirect });
    const { status, message, body } = await get("/old?x=1");
    expect([status, message.headers.location, body]).to.deep.equal([307, "http://b.example/new?x=1", ""]);
    expect(message.headers).not.to.have.property("cache-control");
    expect(seen).to.deep.equal([]);
    expect(gateway.records[0]).to.include({ status: 307, path: "/old", upstream: "" });
  });

  it("rewrite-target: the upstream sees the new path with the query, the log keeps the client's", async () => {
    await serve({ "rewrite-target": { path: { type: "full", value: "/app/$1" } } });
    expect((await get("/shop/../cart?item=1")).status).to.equal(200);
    expect(seen[0]?.url).to.equal("/app/$1?item=1");
    expect(gateway.records[0]?.path).to.equal("/cart");
  });

  it("use-regex, rewrite-target: groups of the matched path make the new one", async () => {
    const pattern = "/users/([0-9]+)/(.*)$";
    await serve({ "rewrite-target": { path: { type: "expand", value: "/$2/$1", pattern } } }, undefined, {
      path: { type: "regex", value: pattern },
    });
    expect((await get("/v1/users/7/./photos?x=$1")).status).to.equal(200);
    expect(seen[0]?.url).to.equal("/photos/7?x=$1");
    expect(gateway.records[0]?.path).to.equal("/v1/users/7/photos");
    expect((await get("/users/x/photos")).status).to.equal(404);
    expect((await get("/users/7/..;")).status).to.equal(200);
    expect(seen[1]?.url).to.equal("/..;/7");
  });

  it("path-normalize: the level of the host decides what is matched, logged and forwarded", async () => {
    const path = { type: "prefix", value: "/a/b" } as const;
    await serve({}, undefined, { path });
    const statuses = async (): Promise<readonly number[]> => [
      (await get("//a//b/c")).status,
      (await get("/a%2Fb/%5Cc")).status,
      (await get("/x%2f..%2fa/b?q=%2f//")).status,
    ];
    expect(await statuses()).to.deep.equal([404, 404, 404]);
    gateway.update({ ...gateway.plan, pathLevel: "merge-slashes" });
    expect(await statuses()).to.deep.equal([200, 404, 404]);
    gateway.update({ ...gateway.plan, pathLevel: "decode-and-merge-slashes" });
    expect(await statuses()).to.deep.equal([200, 200, 200]);
    const forwarded = ["/a/b/c", "/a/b/c", "/a/b/c", "/a/b?q=%2f//"];
    expect(seen.map(({ url }) => url)).to.deep.equal(forwarded);
    expect(gateway.records.at(-1)?.path).to.equal("/a/b");
  });

  it("ssl-redirect: a cleartext request is redirected, a request over TLS is served", async () => {
    const { chainPem, keyPem } = issueCertificate([host]);
    await serve({ "ssl-redirect": { port: 8443, statusCode: 308 } }, undefined, {
      certificate: { chainPem, keyPem },
    });
    const { status, message, body } = await get("/a?b=1");
    const location = `https://${host}:8443/a?b=1`;
    expect([status, message.headers.location, body]).to.deep.equal([308, location, ""]);
    expect(seen).to.deep.equal([]);
    expect((await get("/a?b=1", { tls: true })).body).to.equal("upstream");
  });

  const timeouts = { listener: "80", route: routeId, upstream: "ns/web", error_type: "timeout" };

  it("timeouts: a request gets 504 and is aborted when the upstream does not answer in time", async () => {
    let closed = false;
    const backend = await startTcp((socket) => socket.resume().on("close", () => (closed = true)));
    stop.push(() => backend.close());
    gateway = await startGateway({ ports: [backend.port], features: { timeouts: { readTimeoutMs: 1 } } });
    const started = gateway;
    stop.push(() => started.close());
    expect((await get("/")).status).to.equal(504);
    await eventually(() => closed);
    expect(gateway.records[0]).to.include({ status: 504, error: "upstream read timeout" });
    expect(gateway.metrics.upstreamErrors.with(timeouts).value).to.equal(1);
  });

  it("timeouts: a request gets 504 when it is not sent in time", async () => {
    await serve({ timeouts: { sendTimeoutMs: 1, readTimeoutMs: 60_000 } }, () => {});
    const request = `POST / HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 9\r\n\r\nhalf`;
    expect(await exchange(gateway.port, request)).to.match(/^HTTP\/1\.1 504 /);
    await eventually(() => gateway.records.length === 1);
    expect(gateway.records[0]).to.include({ status: 504, error: "upstream send timeout" });
    expect(gateway.metrics.upstreamErrors.with(timeouts).value).to.equal(1);
  });

  it("timeouts: a response that begins in time may end late", async () => {
    let finish: (() => void) | undefined;
    await serve({ timeouts: { readTimeoutMs: 30_000, sendTimeoutMs: 30_000 } }, (_, response) => {
      response.write("slow ");
      finish = () => response.end("end");
    });
    const answer = get("/");
    await eventually(() => finish !== undefined);
    finish?.();
    expect((await answer).body).to.equal("slow end");
    expect(gateway.metrics.upstreamErrors.with(timeouts).value).to.equal(0);
  });
});
