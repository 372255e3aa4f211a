import { once } from "node:events";
import { createServer as createHttp2Server, type ServerHttp2Stream } from "node:http2";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { expect } from "chai";
import { createOtlpExporter, type OtlpExporter } from "../../src/tracing/export/otlp-exporter.ts";
import { decodeRecords } from "../../src/tracing/encoded-spans.ts";
import { issueCertificate } from "../tls/certificates.ts";
import { type Collector, startGrpcCollector } from "./collector.ts";
import { createGrpcTransport } from "../../src/tracing/export/grpc-transport.ts";
import { createExportEncoder } from "../../src/tracing/export/export-request.ts";
import { encodeSpans, type SpanRecord } from "./span-records.ts";

const caller = {
  traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
  parentId: "00f067aa0ba902b8",
  flags: 1,
  state: "",
};
const identity = { traceId: caller.traceId, spanId: "00f067aa0ba902b7", caller, flags: 1, isSampled: true };
const span: SpanRecord = {
  spanId: identity.spanId,
  parentId: caller.parentId,
  isParentRemote: true,
  kind: "server",
  name: "GET /",
  startMs: 1,
  endMs: 2,
  attributes: {},
  error: undefined,
};
const batch = () => [...decodeRecords(encodeSpans(identity, [span]))];

const request = (): Uint8Array => createExportEncoder({}, "svc-gateway")(batch()).bytes;
const method = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";
const transportTo = (url: string) =>
  createGrpcTransport({ endpoint: new URL(url), method, headers: {}, caBundle: undefined });

const taken = { spans: 0, why: "" };
/** The time limits of calls that are answered, and of calls that are not. */
const timeoutMs = 60_000;
const hardlyMs = 100;

/** A path to a collector that can lose everything that is sent on it, without notifying either end. */
type Path = {
  readonly url: string;
  readonly sockets: readonly Socket[];
  mode: "open" | "lossy" | "closed";
  cut(): void;
  close(): Promise<void>;
};

async function startPath(collectorUrl: string): Promise<Path> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => socket.destroy());
    if (path.mode === "closed") socket.destroy();
    if (path.mode !== "open") return;
    const onwards = connect(Number(new URL(collectorUrl).port), "127.0.0.1");
    onwards.on("error", () => socket.destroy());
    socket.pipe(onwards).pipe(socket);
    socket.on("close", () => onwards.destroy());
  });
  const path: Path = {
    url: await listen(server),
    sockets,
    mode: "open",
    cut() {
      for (const socket of sockets) socket.unpipe().resume();
    },
    async close() {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
  return path;
}

async function listen(server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe("spans by gRPC", () => {
  let collector: Collector;
  let path: Path;
  let exporter: OtlpExporter;

  const exportTo = (url: string, more: { headers?: Record<string, string>; caBundle?: Buffer } = {}) =>
    createOtlpExporter({
      ...{
        protocol: "grpc",
        endpoint: new URL(url),
        headers: {},
        caBundle: undefined,
        timeoutMs,
        resource: {},
      },
      ...more,
    });

  beforeEach(async () => {
    collector = await startGrpcCollector();
    path = await startPath(collector.url);
    exporter = exportTo(path.url);
  });
  afterEach(async () => {
    await exporter.close();
    await path.close();
    await collector.close();
  });

  it("batches share a connection", async () => {
    expect(await exporter.send(batch())).to.deep.equal(taken);
    expect(await exporter.send(batch())).to.deep.equal(taken);
    expect(path.sockets).to.have.lengthOf(1);
  });

  it("a call is answered after one to a collector that accepted its connection and said nothing", async () => {
    const transport = transportTo(path.url);
    path.mode = "lossy";
    expect(await transport.send(request(), hardlyMs)).to.deep.include({ status: "failure" });
    path.mode = "open";
    expect(await transport.send(request(), timeoutMs)).to.deep.include({ status: "success" });
    expect(path.sockets).to.have.lengthOf(2);
    transport.shutdown();
  });

  it("a call is answered after one whose connection lost everything, and that connection is closed", async () => {
    const transport = transportTo(path.url);
    expect(await transport.send(request(), timeoutMs)).to.deep.include({ status: "success" });
    path.cut();
    const closed = once(path.sockets[0] as Socket, "close");
    const lost = await transport.send(request(), hardlyMs);
    expect(lost.status === "failure" && lost.error.message).to.match(/^4 DEADLINE_EXCEEDED: /);
    await closed;
    expect(await transport.send(request(), timeoutMs)).to.deep.include({ status: "success" });
    transport.shutdown();
  });

  it("each batch to a collector that refuses connections is refused by itself", async () => {
    const refused = exportTo("http://127.0.0.1:1");
    for (let batches = 0; batches < 2; batches++) {
      const { spans, why } = await refused.send(batch());
      expect(spans).to.equal(1);
      expect(why).to.match(/^14 UNAVAILABLE: .*connect ECONNREFUSED 127\.0\.0\.1:1/);
    }
    await refused.close();
  });

  it("the next batch is taken however many connections a collector has closed before", async () => {
    path.mode = "closed";
    for (let lost = 0; lost < 10; lost++) expect((await exporter.send(batch())).spans).to.equal(1);
    path.mode = "open";
    expect(await exporter.send(batch())).to.deep.equal(taken);
  });

  it("a collector is connected to over TLS, and refused where the authorities have not issued its certificate", async () => {
    const { chainPem, keyPem } = issueCertificate(["localhost"]);
    const secure = await startGrpcCollector({}, { chainPem, keyPem });
    const url = secure.url.replace("127.0.0.1", "localhost");
    const trusting = exportTo(url, { caBundle: Buffer.from(chainPem) });
    expect(await trusting.send(batch())).to.deep.equal(taken);
    const distrusting = exportTo(url);
    const { spans, why } = await distrusting.send(batch());
    expect(spans).to.equal(1);
    expect(why).to.match(/self-signed certificate/);
    await Promise.all([trusting.close(), distrusting.close()]);
    await secure.close();
  });

  it("the reason of a failure is the status and message of gRPC, or else the status of HTTP", async () => {
    const whyOf = async (answer: (stream: ServerHttp2Stream) => void): Promise<string> => {
      const server = createHttp2Server();
      server.on("stream", (stream) => {
        stream.on("error", () => undefined).resume();
        answer(stream);
      });
      const own = exportTo(await listen(server));
      const { why } = await own.send(batch());
      await own.close();
      server.close();
      return why;
    };
    const type = { "content-type": "application/grpc" };
    const message = { "grpc-status": "8", "grpc-message": "no%20quota%21" };
    expect(
      await whyOf((stream) => stream.respond({ ":status": 200, ...type, ...message }, { endStream: true })),
    ).to.equal("8 RESOURCE_EXHAUSTED: no quota!");
    expect(await whyOf((stream) => stream.respond({ ":status": 404 }, { endStream: true }))).to.equal(
      "12 UNIMPLEMENTED: Received HTTP status code 404",
    );
    expect(
      await whyOf((stream) => {
        stream.respond({ ":status": 200, ...type });
        // A message of five MiB.
        stream.write(Buffer.from([0, 0, 0x50, 0, 0]));
        stream.end(Buffer.alloc(5 * 1024 * 1024));
      }),
    ).to.match(/^8 RESOURCE_EXHAUSTED: Received message larger than max/);
  });
});
