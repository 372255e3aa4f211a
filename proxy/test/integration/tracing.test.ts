import { once } from "node:events";
import { connect } from "node:http2";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { expect } from "chai";
import type { CollectedSpan } from "../tracing/collector.ts";
import { collected } from "../tracing/span-records.ts";
import { holdRefusingPort } from "../../../common/test/held-ports.ts";
import { describeCodecs } from "../http1-codecs.ts";
import { eventually, exchange, routeId, startGateway, type Gateway, type Plan } from "./gateway.ts";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const parentId = "00f067aa0ba902b7";
const sampled = `00-${traceId}-${parentId}-01`;

const spanKinds = { server: 2, client: 3 } as const;
/** Statuses of spans. */
const unset = 0;
const failed = 2;

const get = (path: string, ...headers: readonly string[]): string =>
  [`GET ${path} HTTP/1.1`, "Host: a.example", "Connection: close", ...headers, "", ""].join("\r\n");

describeCodecs("tracing", () => {
  const servers: { close(): unknown }[] = [];
  let port: number;
  let seen: IncomingHttpHeaders[] = [];
  /** The spans of each request. */
  let traced: (readonly CollectedSpan[])[] = [];
  let gateway: Gateway | undefined;

  before(async () => {
    const server = createServer((request, response) => {
      seen.push(request.headers);
      const status = Number(new URL(request.url ?? "/", "http://a").searchParams.get("status") ?? 200);
      response.writeHead(status).end("ok");
    });
    server.on("upgrade", (request, socket) => {
      seen.push(request.headers);
      socket.end("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n");
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    servers.push(server);
    ({ port } = server.address() as AddressInfo);
  });

  beforeEach(() => {
    seen = [];
    traced = [];
  });

  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
  });

  after(() => {
    for (const server of servers) server.close();
  });

  async function start(plan: Partial<Plan> = {}, ...flags: readonly string[]): Promise<Gateway> {
    const spanSink = (record: Uint8Array): boolean => traced.push(collected(record)) > 0;
    gateway = await startGateway({ ports: [port], ...plan }, flags, undefined, { spanSink });
    return gateway;
  }

  const oneRequest = async (): Promise<readonly [CollectedSpan, ...CollectedSpan[]]> => {
    await eventually(() => traced.length > 0);
    expect(traced).to.have.lengthOf(1);
    return traced[0] as readonly [CollectedSpan, ...CollectedSpan[]];
  };

  it("a request continues the trace of its caller, and its backend that of the attempt", async () => {
    const { port: at } = await start();
    await exchange(
      at,
      get("/cart?secret=1", `traceparent: ${sampled}`, "tracestate: a=1", "tracestate: b=2"),
    );
    const [server, client] = await oneRequest();
    const of = { traceId, state: "a=1,b=2", status: unset };
    expect(server).to.include({ ...of, parentId, flags: 0x301, kind: spanKinds.server, name: "GET /" });
    const attempt = { parentId: server.spanId, flags: 0x101, kind: spanKinds.client, name: "GET" };
    expect(client).to.include({ ...of, ...attempt });
    expect(seen[0]).to.include({ traceparent: `00-${traceId}-${client?.spanId}-01`, tracestate: "a=1,b=2" });
    expect(server.attributes).to.include({
      "http.request.method": "GET",
      "http.response.status_code": 200,
      "http.route": "/",
      "url.scheme": "http",
      "url.path": "/cart",
      "server.address": "a.example",
      "client.address": "127.0.0.1",
      "network.protocol.version": "1.1",
      "svc_gateway.route.id": routeId,
    });
    expect(client?.attributes).to.include({
      "url.full": "http://a.example/cart",
      "server.address": "127.0.0.1",
      "server.port": port,
      "http.response.status_code": 200,
    });
    expect(inspect(traced, { depth: null })).to.not.include("secret");
    for (const { startNs, endNs } of [server, client as CollectedSpan])
      expect(endNs >= startNs).to.equal(true);
    expect(Number(client?.startNs)).to.be.at.least(Number(server.startNs));
  });

  it("a malformed traceparent begins a new trace, and its tracestate is dropped", async () => {
    const { port: at } = await start();
    await exchange(
      at,
      get("/", `traceparent: ${sampled}x`, "tracestate: a=1", "Trace_Parent: x", "traceparent: 1"),
    );
    const [server] = await oneRequest();
    expect(traced[0]?.[0]?.traceId)
      .to.match(/^[\da-f]{32}$/)
      .and.not.equal(traceId);
    expect(server.parentId).to.equal("");
    expect(seen[0]).to.not.have.property("tracestate");
    expect(seen[0]?.["traceparent"]).to.match(new RegExp(`^00-${traced[0]?.[0]?.traceId}-[\\da-f]{16}-03$`));
  });

  it("a caller that has not sampled its trace gets no spans, and the backend its decision", async () => {
    const { port: at } = await start();
    await exchange(at, get("/", `traceparent: 00-${traceId}-${parentId}-00`));
    expect(seen[0]?.["traceparent"]).to.match(new RegExp(`^00-${traceId}-[\\da-f]{16}-00$`));
    await exchange(at, get("/"));
    await oneRequest();
  });

  it("a share of the traces is sampled, and callers decide only where they may", async () => {
    const { port: at } = await start({}, "--tracing-ratio=0", "--tracing-follow-caller=false");
    await exchange(at, get("/"));
    await exchange(at, get("/", `traceparent: ${sampled}`));
    expect(traced).to.deep.equal([]);
    expect(seen.map(({ traceparent }) => String(traceparent).slice(-2))).to.deep.equal(["02", "00"]);
  });

  it("the context of an untrusted peer is not continued", async () => {
    const { port: at } = await start({}, "--tracing-trusted-cidrs=192.0.2.0/24");
    await exchange(at, get("/", `traceparent: ${sampled}`));
    await oneRequest();
    expect(traced[0]?.[0]?.traceId).to.not.equal(traceId);
  });

  it("a route or listener with another ratio is sampled by it", async () => {
    const running = await start({ route: { observation: { tracing: { ratio: 0 } } } });
    await exchange(running.port, get("/"));
    running.update({ ports: [port], route: { observation: { tracing: false } } });
    await exchange(running.port, get("/", "traceparent: as it came"));
    expect(seen[1]?.["traceparent"]).to.equal("as it came");
    expect(traced).to.deep.equal([]);
    running.update({ ports: [port], listener: { observation: { tracing: false } } });
    await exchange(running.port, "GET / HTTP/1.1\r\nHost: other\r\nConnection: close\r\n\r\n");
    expect(traced).to.deep.equal([]);
    await exchange(running.port, get("/"));
    await oneRequest();
  });

  it("a request that the proxy answers itself has one span", async () => {
    const { port: at } = await start();
    await exchange(at, "GET /x HTTP/1.1\r\nHost: other\r\nConnection: close\r\n\r\n");
    const [server, ...attempts] = await oneRequest();
    expect(attempts).to.deep.equal([]);
    expect([server.name, server.status]).to.deep.equal(["GET", unset]);
    expect(server.attributes).to.include({
      "http.response.status_code": 404,
      "svc_gateway.error": "no route",
    });
  });

  it("each attempt has a span, and the ones that failed say why", async () => {
    const refusing = await holdRefusingPort();
    const { port: at } = await start({
      ports: [refusing.port],
      features: { retry: { attempts: 1, codes: [502] } },
    });
    await exchange(at, get("/"));
    refusing.close();
    const [server, first, second] = await oneRequest();
    expect(server).to.include({ status: failed, message: "connection refused" });
    expect(server.attributes).to.include({
      "error.type": "upstream-refused",
      "http.response.status_code": 502,
    });
    expect(first).to.include({ status: failed, message: "connection refused" });
    expect(first?.attributes)
      .to.include({ "error.type": "refused" })
      .and.not.have.property("http.request.resend_count");
    expect(second?.attributes).to.include({ "error.type": "refused", "http.request.resend_count": 1 });
    expect(first?.spanId).to.not.equal(second?.spanId);
  });

  it("an error of a backend is an error of both spans, one of a client only of the attempt", async () => {
    const { port: at } = await start();
    await exchange(at, get("/?status=503"));
    const [server, client] = await oneRequest();
    expect([server.attributes["error.type"], client?.attributes["error.type"]]).to.deep.equal(["503", "503"]);
    traced = [];
    await exchange(at, get("/?status=404"));
    const [served, asked] = await oneRequest();
    expect([served.status, asked?.attributes["error.type"]]).to.deep.equal([unset, "404"]);
  });

  it("an upgraded connection is one trace until it ends", async () => {
    const { port: at } = await start();
    const headers = [
      "Upgrade: websocket",
      "Sec-WebSocket-Version: 13",
      "Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==",
    ];
    const request = ["GET / HTTP/1.1", "Host: a.example", "Connection: upgrade", ...headers, "", ""].join(
      "\r\n",
    );
    await exchange(at, request);
    const [server, client] = await oneRequest();
    expect(server.attributes["http.response.status_code"]).to.equal(101);
    expect(seen[0]?.["traceparent"]).to.include(client?.spanId);
  });

  it("a gRPC call over HTTP/2 is traced like any request", async () => {
    const { port: at } = await start();
    const session = connect(`http://127.0.0.1:${at}`);
    const stream = session.request({
      ":method": "POST",
      ":path": "/shop.Cart/Get",
      ":authority": "a.example",
      "content-type": "application/grpc",
      traceparent: sampled,
    });
    stream.end();
    stream.resume();
    await once(stream, "close");
    session.close();
    const [server, client] = await oneRequest();
    expect(traced[0]?.[0]?.traceId).to.equal(traceId);
    expect(server.attributes).to.include({ "network.protocol.version": "2", "url.path": "/shop.Cart/Get" });
    expect(seen[0]?.["traceparent"]).to.include(client?.spanId);
  });

  it("nothing that a client sends can break a span or make it large", async () => {
    const { port: at } = await start();
    const long = "a".repeat(5000);
    await exchange(
      at,
      get(
        `/${long}`,
        `User-Agent: "\\{}${long}\u00e9 Bearer abcdefghijklmno`,
        `tracestate: ${long}`,
        `X: ${sampled}`,
      ),
    );
    await exchange(at, 'G%T / HTTP/1.1\r\nHost: "\\\r\nConnection: close\r\n\r\n');
    await eventually(() => traced.length > 0);
    for (const spans of traced)
      for (const { attributes } of spans)
        for (const value of Object.values(attributes)) expect(String(value).length).to.be.at.most(1024);
  });

  it("spans for which there is no room are dropped and counted", async () => {
    gateway = await startGateway({ ports: [port] }, [], undefined, { spanSink: () => false });
    await exchange(gateway.port, get("/"));
    const { body } = await gateway.metrics.expose();
    expect(body).to.include('svc_proxy_trace_spans_dropped_total{reason="worker-full"} 2');
  });

  it("the context is passed on as it came without tracing", async () => {
    gateway = await startGateway({ ports: [port] });
    await exchange(gateway.port, get("/", "traceparent: anything", "tracestate: goes"));
    expect(seen[0]).to.include({ traceparent: "anything", tracestate: "goes" });
  });
});
