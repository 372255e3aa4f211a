import { once } from "node:events";
import { request, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { createLogLevels } from "@svc-gateway/common/telemetry/log-levels.ts";
import { parseLogDirectives } from "@svc-gateway/common/telemetry/log-level.ts";
import { expect } from "chai";
import { createAccessLog, type AccessLog } from "../../src/telemetry/access-log.ts";
import { describeCodecs } from "../http1-codecs.ts";
import { exchange, startGateway, startHttp, type Gateway, type HttpUpstream } from "./gateway.ts";

type Line = Readonly<Record<string, unknown>>;

/** A real log whose lines are kept. */
function keepLines(fields: readonly string[]): { readonly accessLog: AccessLog; readonly lines: Line[] } {
  const lines: Line[] = [];
  const directives = parseLogDirectives("info");
  if (!directives.ok) throw new Error(directives.error.message);
  const sink = { write: (line: string) => lines.push(JSON.parse(line) as Line) > 0 };
  const options = { enabled: true, pathMode: "full", format: "json", fields, sink } as const;
  return { accessLog: createAccessLog({ ...options, levels: createLogLevels(directives.value) }), lines };
}

async function get(
  port: number,
  headers: Readonly<Record<string, string>> = {},
  body?: string,
): Promise<IncomingMessage> {
  const sent = request({
    port,
    host: "127.0.0.1",
    agent: false,
    method: body === undefined ? "GET" : "POST",
  });
  sent.setHeader("Host", "a.example");
  for (const [name, value] of Object.entries(headers)) sent.setHeader(name, value);
  sent.end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  response.resume();
  await once(response, "close");
  return response;
}

describeCodecs("request ids and chosen fields of the access log", () => {
  let upstream: HttpUpstream;
  let seen: IncomingHttpHeaders;
  const open: Gateway[] = [];

  before(async () => {
    upstream = await startHttp((asked, response) => {
      seen = asked.headers;
      response.setHeader("X-Request-ID", "of the backend");
      asked.resume().on("end", () => response.end("ok"));
    });
  });

  afterEach(async () => {
    for (const gateway of open.splice(0)) await gateway.close();
  });

  after(() => upstream.close());

  async function start(flags: readonly string[], accessLog?: AccessLog): Promise<Gateway> {
    const options = accessLog === undefined ? {} : { accessLog };
    const gateway = await startGateway({ ports: [upstream.port] }, flags, undefined, options);
    open.push(gateway);
    return gateway;
  }

  it("a request of an untrusted peer gets a new id, for backend, client and log alike", async () => {
    const { accessLog, lines } = keepLines(["+request_id"]);
    const gateway = await start(["--request-id-header=X-Request-ID"], accessLog);
    const response = await get(gateway.port, { "X-Request-ID": "forged", X_Request_ID: "forged" });
    const id = response.headers["x-request-id"];
    expect(id).to.match(/^[0-9a-f]{32}$/);
    expect(seen["x-request-id"]).to.equal(id);
    expect(seen).to.not.have.property("x_request_id");
    expect(lines.map((line) => line["request_id"])).to.deep.equal([id]);
  });

  it("a trusted peer's id is kept where it is well formed", async () => {
    const { accessLog, lines } = keepLines(["+request_id"]);
    const flags = ["--request-id-header=X-Correlation-Id", "--request-id-trusted-cidrs=127.0.0.0/8"];
    const gateway = await start(flags, accessLog);
    const kept = await get(gateway.port, { "x-correlation-id": "order-7/abc" });
    expect(kept.headers["x-correlation-id"]).to.equal("order-7/abc");
    expect(seen["x-correlation-id"]).to.equal("order-7/abc");
    for (const bad of ["", "a b", "x".repeat(129), "\u00e9"]) {
      const response = await get(gateway.port, { "x-correlation-id": bad });
      expect(response.headers["x-correlation-id"], bad).to.match(/^[0-9a-f]{32}$/);
      expect(seen["x-correlation-id"]).to.equal(response.headers["x-correlation-id"]);
    }
    expect(lines[0]?.["request_id"]).to.equal("order-7/abc");
  });

  it("a request that the proxy answers itself has an id as well", async () => {
    const gateway = await start(["--request-id-header=X-Request-ID"]);
    const text = await exchange(
      gateway.port,
      "GET / HTTP/1.1\r\nHost: other.example\r\nConnection: close\r\n\r\n",
    );
    expect(text).to.match(/^HTTP\/1\.1 404 /);
    expect(text).to.match(/^x-request-id: [0-9a-f]{32}\r$/im);
  });

  it("backends and clients get no id without the flag", async () => {
    const gateway = await start([]);
    const response = await get(gateway.port, { "X-Request-ID": "of the client" });
    expect(response.headers["x-request-id"]).to.equal("of the backend");
    expect(seen["x-request-id"]).to.equal("of the client");
  });

  it("a route with the request id of ingress-nginx logs the id that its backend gets", async () => {
    const { accessLog, lines } = keepLines(["+request_id"]);
    const gateway = await start([], accessLog);
    gateway.update({ ports: [upstream.port], features: { "forwarding-fields": { requestId: true } } });
    await get(gateway.port, { "X-Request-ID": "of the client" });
    await get(gateway.port);
    expect(seen["x-request-id"]).to.match(/^[0-9a-f]{32}$/);
    expect(lines.map((line) => line["request_id"])).to.deep.equal(["of the client", seen["x-request-id"]]);
  });

  it("lines show the chosen parts of a request and its response", async () => {
    const { accessLog, lines } = keepLines([
      "+protocol",
      "+user_agent",
      "+referer",
      "+bytes_received",
      "+upstream_connect_ms",
      "+upstream_first_byte_ms",
      "+upstream_ms",
      "+listener",
    ]);
    const gateway = await start([], accessLog);
    await get(gateway.port, { "User-Agent": "test/1", Referer: "http://a/b?c" }, "hello");
    const [line = {}] = lines;
    expect(line).to.include({
      listener: 80,
      protocol: "HTTP/1.1",
      user_agent: "test/1",
      referer: "http://a/b",
      bytes_received: 5,
      bytes_sent: 2,
    });
    const [connect, firstByte, whole] = ["connect_ms", "first_byte_ms", "ms"].map((name) =>
      Number(line[`upstream_${name}`]),
    ) as [number, number, number];
    expect(connect).to.be.at.least(0).and.at.most(firstByte);
    expect(whole).to.be.at.least(firstByte);
  });

  it("a class chooses the fields of its routes, and a listener those of all others", async () => {
    const { accessLog, lines } = keepLines(["host", "status"]);
    const gateway = await start([], accessLog);
    gateway.update({ ports: [upstream.port], route: { observation: { fields: ["+protocol"] } } });
    await get(gateway.port);
    await exchange(gateway.port, "GET / HTTP/1.1\r\nHost: other\r\nConnection: close\r\n\r\n");
    gateway.update({ ports: [upstream.port], listener: { observation: { fields: ["status"] } } });
    await get(gateway.port);
    await exchange(gateway.port, "GET / HTTP/1.1\r\nHost: other\r\nConnection: close\r\n\r\n");
    await exchange(gateway.port, "GET / HTTP/1.1\r\nHost : a\r\n\r\n");
    gateway.update({ ports: [upstream.port], listener: { observation: { accessLog: false } } });
    await exchange(gateway.port, "GET / HTTP/1.1\r\nHost: other\r\nConnection: close\r\n\r\n");
    await exchange(gateway.port, "GET / HTTP/1.1\r\nHost : a\r\n\r\n");
    const fields = lines.map((line) => Object.fromEntries(Object.entries(line).slice(4)));
    expect(fields).to.deep.equal([
      { host: "a.example", status: 200, protocol: "HTTP/1.1" },
      { host: "other", status: 404 },
      { host: "a.example", status: 200 },
      { status: 404 },
      { status: 400 },
    ]);
  });
});
