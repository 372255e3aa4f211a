import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { RequestListener } from "node:http";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { readStandaloneSettings } from "@svc-gateway/common/settings/settings.ts";
import { silentLogger } from "@svc-gateway/common/telemetry/logger.ts";
import { proxyMetrics, supervisorMetrics } from "@svc-gateway/common/telemetry/metric-declarations.ts";
import { createMetricSet } from "@svc-gateway/common/telemetry/metric-set.ts";
import { expect } from "chai";
import { eventually } from "../integration/gateway.ts";
import { mockTimers } from "../mock-timers.ts";
import { decodeRecords } from "../../src/tracing/encoded-spans.ts";
import { createOtlpExporter } from "../../src/tracing/export/otlp-exporter.ts";
import { startSpanExport, type SpanExport } from "../../src/tracing/export/span-export.ts";
import type { TraceIdentity } from "../../src/tracing/trace-identity.ts";
import { createLogRing, LogRingWriter } from "../../src/worker/log-ring.ts";
import { type Collector, startGrpcCollector, startHttpCollector } from "./collector.ts";
import { encodeSpans, type SpanRecord } from "./span-records.ts";

const identity: TraceIdentity = {
  traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
  spanId: "00f067aa0ba902b7",
  caller: {
    traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
    parentId: "00f067aa0ba902b8",
    flags: 1,
    state: "vendor=a",
  },
  flags: 1,
  isSampled: true,
};
const spans: readonly SpanRecord[] = [
  {
    spanId: "00f067aa0ba902b7",
    parentId: "00f067aa0ba902b8",
    isParentRemote: true,
    kind: "server",
    name: "GET /cart",
    startMs: 1_767_323_045_678.25,
    endMs: 1_767_323_045_690.5,
    attributes: { "http.response.status_code": 502, "url.path": "/cart", ok: true },
    error: "connection refused",
  },
  {
    spanId: "00f067aa0ba902b9",
    parentId: "00f067aa0ba902b7",
    isParentRemote: false,
    kind: "client",
    name: "GET",
    startMs: 1_767_323_045_679,
    endMs: 1_767_323_045_680,
    attributes: {},
    error: undefined,
  },
];

describe("the export of spans", () => {
  let folder: string;
  let collector: Collector;
  let exporting: SpanExport;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "spans-"));
    await writeFile(join(folder, "headers"), "X-Tenant: shop\n");
  });

  after(() => rm(folder, { recursive: true }));

  async function start(url: string, ...flags: readonly string[]) {
    const argv = ["--manifests", ".", `--tracing-endpoint=${url}`, ...flags];
    const read = readStandaloneSettings({ argv, env: {} });
    if (!read.ok) throw new Error(read.error.message);
    const metrics = createMetricSet({
      ...supervisorMetrics,
      traceSpansDropped: proxyMetrics.traceSpansDropped,
    });
    const ring = createLogRing(64 * 1024);
    const started = await startSpanExport({
      settings: read.value.settings,
      rings: [ring],
      metrics,
      log: silentLogger,
    });
    if (!started.ok || started.value === undefined) throw new Error("there is no export");
    const { value } = started;
    exporting = value;
    const writer = new LogRingWriter(ring, (when) => value.wake(0, when));
    return {
      write: () => expect(writer.append(encodeSpans(identity, spans))).to.equal(true),
      metrics,
    };
  }

  for (const [protocol, startCollector] of [
    ["grpc", startGrpcCollector],
    ["http/protobuf", () => startHttpCollector()],
  ] as const) {
    it(`a collector gets spans with their headers by ${protocol}`, async () => {
      collector = await startCollector();
      const { write, metrics } = await start(
        collector.url,
        `--tracing-protocol=${protocol}`,
        `--tracing-headers-path=${join(folder, "headers")}`,
        "--tracing-service-name=edge",
      );
      write();
      await eventually(() => metrics.traceSpansExported.with({}).value === 2);
      const [server, client] = collector.spans;
      expect(server).to.include({
        traceId: identity.traceId,
        spanId: "00f067aa0ba902b7",
        parentId: "00f067aa0ba902b8",
        state: "vendor=a",
        name: "GET /cart",
        kind: 2,
        startNs: 1_767_323_045_678_250_000n,
        endNs: 1_767_323_045_690_500_000n,
        status: 2,
        message: "connection refused",
      });
      expect(server?.attributes).to.deep.equal({
        "http.response.status_code": 502,
        "url.path": "/cart",
        ok: true,
      });
      expect(server?.resource).to.deep.equal({
        "service.name": "edge",
        "service.instance.id": `${hostname()}/svc-local`,
        "host.name": hostname(),
      });
      expect(client).to.include({ parentId: "00f067aa0ba902b7", kind: 3, status: 0 });
      expect(collector.headers()).to.include({ "x-tenant": "shop" });
      await exporting.close();
      await collector.close();
    });
  }

  describe("when it closes", () => {
    // A busy machine is not slower than the time that an export has to close.
    mockTimers();

    it("spans of a pod name the pod and its namespace", async () => {
      process.env["KUBERNETES_SERVICE_HOST"] = "10.96.0.1";
      collector = await startHttpCollector();
      try {
        const { write } = await start(
          collector.url,
          "--tracing-protocol=http/protobuf",
          "--pod-name=proxy-1",
        );
        write();
        await exporting.close();
        expect(collector.spans[0]?.resource).to.deep.equal({
          "service.name": "svc-gateway",
          "service.instance.id": "svc-system/proxy-1",
          "k8s.pod.name": "proxy-1",
          "k8s.namespace.name": "svc-system",
        });
      } finally {
        delete process.env["KUBERNETES_SERVICE_HOST"];
        await collector.close();
      }
    });

    it("what is left is sent when the export closes", async () => {
      collector = await startHttpCollector();
      const { write } = await start(collector.url, "--tracing-protocol=http/protobuf");
      write();
      await exporting.close();
      expect(collector.spans).to.have.lengthOf(2);
      await collector.close();
    });
  });

  it("a collector that refuses spans costs nothing but these spans, which are counted", async () => {
    collector = await startHttpCollector((_, response) => void response.writeHead(400).end("no"));
    const { write, metrics } = await start(collector.url, "--tracing-protocol=http/protobuf");
    write();
    await eventually(() => metrics.traceSpansDropped.with({ reason: "export-failed" }).value === 2);
    await exporting.close();
    await collector.close();
  });

  for (const protocol of ["grpc", "http/protobuf"] as const) {
    it(`spans that a collector refuses in an answer of success by ${protocol} are counted as dropped`, async () => {
      const answer = { partial_success: { rejected_spans: 1, error_message: "no quota" } };
      collector = await (protocol === "grpc"
        ? startGrpcCollector(answer)
        : startHttpCollector(undefined, answer));
      const { write, metrics } = await start(collector.url, `--tracing-protocol=${protocol}`);
      write();
      await eventually(() => metrics.traceSpansDropped.with({ reason: "export-failed" }).value === 1);
      expect(metrics.traceSpansExported.with({}).value).to.equal(1);
      await exporting.close();
      await collector.close();
    });
  }

  it("the reason of dropped spans says the status of a collector, also where that gives no reason", async () => {
    const whyOf = async (answer: RequestListener | undefined, success?: object): Promise<string> => {
      collector = await startHttpCollector(answer, success);
      const exporter = createOtlpExporter({
        protocol: "http/protobuf",
        endpoint: new URL(collector.url),
        headers: {},
        caBundle: undefined,
        timeoutMs: 30_000,
        resource: {},
      });
      const { why } = await exporter.send([...decodeRecords(encodeSpans(identity, spans))]);
      await exporter.close();
      await collector.close();
      return why;
    };
    expect(await whyOf((_, response) => void response.writeHead(401).end())).to.equal(
      "status 401 Unauthorized",
    );
    expect(await whyOf((_, response) => void response.writeHead(400, " ").end())).to.equal("status 400");
    // Later than the exporter waits for.
    const busy: RequestListener = (_, response) =>
      void response.writeHead(503, { "Retry-After": "60" }).end();
    expect(await whyOf(busy)).to.equal("status 429, 502, 503 or 504, also when asked again");
    const refused = { partial_success: { rejected_spans: 1 } };
    expect(await whyOf(undefined, refused)).to.equal("the collector refused a part");
  });

  it("an answer without end is given up", async () => {
    collector = await startHttpCollector((_, response) => {
      response.writeHead(200);
      const flood = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(64 * 1024)));
        if (!response.destroyed) response.once("drain", flood);
      };
      flood();
    });
    const { write, metrics } = await start(collector.url, "--tracing-protocol=http/protobuf");
    write();
    await eventually(() => metrics.traceSpansDropped.with({ reason: "export-failed" }).value === 2);
    await exporting.close();
    await collector.close();
  });

  it("headers that cannot be read end the start with a sentence", async () => {
    const argv = [
      "--manifests",
      ".",
      "--tracing-endpoint=http://127.0.0.1:1",
      `--tracing-headers-path=${join(folder, "none")}`,
    ];
    const read = readStandaloneSettings({ argv, env: {} });
    if (!read.ok) throw new Error(read.error.message);
    const metrics = createMetricSet({
      ...supervisorMetrics,
      traceSpansDropped: proxyMetrics.traceSpansDropped,
    });
    const started = await startSpanExport({
      settings: read.value.settings,
      rings: [],
      metrics,
      log: silentLogger,
    });
    expect(started.ok || started.error.message).to.match(/^--tracing-headers-path.*ENOENT/);
  });
});
