import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import type { DataPlaneSettings } from "@svc-gateway/common/settings/settings.ts";
import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import type { proxyMetrics, supervisorMetrics } from "@svc-gateway/common/telemetry/metric-declarations.ts";
import type { MetricSet } from "@svc-gateway/common/telemetry/metric-set.ts";
import { textOf } from "@svc-gateway/common/values/errors.ts";
import { ok, problem, type Problem, type Result } from "@svc-gateway/common/values/result.ts";
import { LogRingReader, type LogWake } from "../../worker/log-ring.ts";
import { readExportHeaders } from "./export-headers.ts";
import type { OtlpExporter, OtlpOptions } from "./otlp-exporter.ts";
import { SpanMemory } from "./span-memory.ts";
import { SpanQueue } from "./span-queue.ts";

/** Passes the spans of all workers to the collector. */
export type SpanExport = {
  /** Called when a worker has written spans. */
  wake(worker: number, when: LogWake): void;
  /** Sends the remaining spans, within a time limit. */
  close(): Promise<void>;
};

type ExportMetrics = MetricSet<
  Pick<typeof supervisorMetrics, "traceSpansExported"> & Pick<typeof proxyMetrics, "traceSpansDropped">
>;

export type SpanExportOptions = {
  readonly settings: DataPlaneSettings & { readonly podName: string; readonly podNamespace: string };
  /** One ring per worker. */
  readonly rings: readonly SharedArrayBuffer[];
  readonly metrics: ExportMetrics;
  readonly log: Logger;
};

const timeoutMs = 10_000;
/** The limit for a batch with all its retries, which the exporters make within their own limit. */
const batchTimeoutMs = timeoutMs + 2_000;
const gatherMs = 200;
const closeTimeoutMs = 3_000;
/** The minimum interval between log lines about failures. */
const warnIntervalMs = 60_000;

/** Starts the export; undefined if traces are off. Fails if the settings cannot be used. */
export async function startSpanExport(
  options: SpanExportOptions,
): Promise<Result<SpanExport | undefined, Problem>> {
  const { settings } = options;
  const endpoint = settings.tracingEndpoint;
  if (endpoint === undefined) return ok(undefined);
  const read = await readFiles(settings);
  if (!read.ok) return read;
  // A separate program in the bundle (scripts/build.ts).
  const { createOtlpExporter } = await import("./otlp-exporter.ts");
  const exporter = createOtlpExporter({
    ...read.value,
    endpoint: new URL(endpoint),
    protocol: settings.tracingProtocol,
    timeoutMs,
    resource: resourceOf(settings, process.env["KUBERNETES_SERVICE_HOST"] !== undefined),
  });
  return ok(drainRings(options, exporter));
}

/**
 * The attributes of the process in its spans. The kubelet sets KUBERNETES_SERVICE_HOST in every container. Outside of a
 * pod, the default of `--pod-name` is the same on every host, so the host name identifies the instance.
 */
function resourceOf(
  settings: SpanExportOptions["settings"],
  isInPod: boolean,
): Readonly<Record<string, string>> {
  const { podName, podNamespace, tracingServiceName } = settings;
  const own: Readonly<Record<string, string>> = isInPod
    ? {
        "service.instance.id": `${podNamespace}/${podName}`,
        "k8s.pod.name": podName,
        "k8s.namespace.name": podNamespace,
      }
    : { "service.instance.id": `${hostname()}/${podName}`, "host.name": hostname() };
  return { "service.name": tracingServiceName, ...own };
}

function drainRings({ rings, metrics, log }: SpanExportOptions, exporter: OtlpExporter): SpanExport {
  const readers = rings.map((ring) => new LogRingReader(ring));
  const memory = new SpanMemory();
  let warnedAtMs = Number.NEGATIVE_INFINITY;
  let unlogged = 0;
  const queue = new SpanQueue({
    send: exporter.send,
    timeoutMs: batchTimeoutMs,
    onExported: (spans) => metrics.traceSpansExported.with({}).inc(spans),
    onDropped(spans, why, text) {
      metrics.traceSpansDropped.with({ reason: why }).inc(spans);
      unlogged += spans;
      const nowMs = performance.now();
      if (nowMs - warnedAtMs < warnIntervalMs) return;
      log.warn({ reason: text, dropped_spans: unlogged }, "spans were dropped");
      warnedAtMs = nowMs;
      unlogged = 0;
    },
  });
  const take = (worker: number): void =>
    // The spans are copied, because the ring is overwritten once this returns.
    readers[worker]?.take((records) => {
      for (const spans of memory.copy(records)) queue.add(spans);
    }, Number.POSITIVE_INFINITY);
  const takeAll = (): void => {
    for (const worker of readers.keys()) take(worker);
  };
  let timer: NodeJS.Timeout | undefined;
  return {
    wake(worker, when) {
      if (when === "now") return take(worker);
      timer ??= setTimeout(() => {
        timer = undefined;
        takeAll();
      }, gatherMs).unref();
    },
    async close() {
      clearTimeout(timer);
      takeAll();
      const limit = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, closeTimeoutMs);
      });
      await Promise.race([queue.drain().then(() => exporter.close()), limit]);
      clearTimeout(timer);
    },
  };
}

type Files = Pick<OtlpOptions, "headers" | "caBundle">;

async function readFiles(settings: DataPlaneSettings): Promise<Result<Files, Problem>> {
  const { tracingHeadersPath, tracingCaBundlePath } = settings;
  try {
    const headers =
      tracingHeadersPath === undefined
        ? ok({})
        : readExportHeaders(await readFile(tracingHeadersPath, "utf8"));
    if (!headers.ok)
      return problem(`--tracing-headers-path: ${headers.error.message}`, headers.error.expected);
    const caBundle = tracingCaBundlePath === undefined ? undefined : await readFile(tracingCaBundlePath);
    return ok({ headers: headers.value, caBundle });
  } catch (error) {
    return problem(`--tracing-headers-path, --tracing-ca-bundle-path: ${textOf(error)}`);
  }
}
