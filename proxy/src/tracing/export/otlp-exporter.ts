/**
 * The OpenTelemetry exporters: a separate program, loaded only if traces are exported, so that it costs nothing
 * otherwise (docs/adr/0034-tracing.md).
 */
import {
  createOtlpNetworkExportDelegate,
  ExporterMetrics,
  getSharedConfigurationDefaults,
  type IOtlpExportDelegate,
} from "@opentelemetry/otlp-exporter-base";
import {
  convertLegacyHttpOptions,
  createOtlpHttpExportDelegate,
} from "@opentelemetry/otlp-exporter-base/node-http";
import { type ISerializer, ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer";
import type { EncodedSpans } from "../encoded-spans.ts";
import { createExportEncoder, type ExportRequest } from "./export-request.ts";
import { createGrpcTransport } from "./grpc-transport.ts";
import { countOf, nothingRefused, type Refused, type SendBatch } from "./span-queue.ts";

type Batch = readonly EncodedSpans[];
type Delegate = IOtlpExportDelegate<Batch>;

export type OtlpOptions = {
  readonly protocol: "grpc" | "http/protobuf";
  readonly endpoint: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** The certificate authorities to trust, in PEM; undefined for those of Node.js. */
  readonly caBundle: Buffer | undefined;
  /** The limit for a batch, with its retries over HTTP, in milliseconds. */
  readonly timeoutMs: number;
  /** The attributes of the process that produces the spans. */
  readonly resource: Readonly<Record<string, string>>;
};

export type OtlpExporter = { readonly send: SendBatch; close(): Promise<void> };

type ExportResult = { readonly code: number; readonly error?: Error };
const exported = 0;

/** Creates an exporter, which connects at its first batch. */
export function createOtlpExporter(options: OtlpOptions): OtlpExporter {
  /** The spans that the collector refused of the batch being sent; one batch is sent at a time. */
  let refused: Refused = nothingRefused;
  let request: ExportRequest | undefined;
  const encode = createExportEncoder(options.resource, "svc-gateway");
  const serializer: ISerializer<Batch, object> = {
    serializeRequest(batch) {
      request = encode(batch);
      return request.bytes;
    },
    deserializeResponse(data) {
      refused = refusedIn(data);
      return {};
    },
  };
  const exporter = (options.protocol === "grpc" ? grpcDelegate : httpDelegate)(options, serializer);
  return {
    send: (batch) =>
      new Promise((resolve) => {
        refused = nothingRefused;
        request = undefined;
        let own: ExportRequest | undefined;
        exporter.export(batch, ({ code, error }: ExportResult) => {
          // The memory of a failed request is not reused, because a part of it can still be in transit.
          if (code === exported) own?.release();
          resolve(code === exported ? refused : { spans: countOf(batch), why: textOf(error) });
        });
        // `export` encodes the request synchronously, and calls back later.
        own = request;
      }),
    close: () => exporter.shutdown().catch(() => undefined),
  };
}

const metrics = { name: "span", countItems: countOf } as const;

function grpcDelegate(
  { timeoutMs, ...target }: OtlpOptions,
  serializer: ISerializer<Batch, object>,
): Delegate {
  const method = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";
  const ownMetrics = new ExporterMetrics<Batch>({
    componentType: "otlp_grpc_span_exporter",
    metricsHelper: metrics,
    url: target.endpoint.href,
    // These metrics are not exported; the queue counts spans.
    meterProvider: undefined,
    responseAttributesFromError: () => ({}),
  });
  const shared = { ...getSharedConfigurationDefaults(), timeoutMillis: timeoutMs };
  return createOtlpNetworkExportDelegate(
    shared,
    serializer,
    ownMetrics,
    createGrpcTransport({ ...target, method }),
  );
}

function httpDelegate(
  { endpoint, headers, caBundle, timeoutMs }: OtlpOptions,
  serializer: ISerializer<Batch, object>,
): Delegate {
  const url = new URL(endpoint);
  // As for OTEL_EXPORTER_OTLP_ENDPOINT, a URL without a path is the base URL for all signals.
  if (url.pathname === "/") url.pathname = "/v1/traces";
  const options = convertLegacyHttpOptions(
    {
      url: url.href,
      timeoutMillis: timeoutMs,
      headers: { ...headers },
      httpAgentOptions: { keepAlive: true, ...(caBundle !== undefined && { ca: caBundle }) },
    },
    "TRACES",
    "v1/traces",
    { "Content-Type": "application/x-protobuf" },
  );
  return createOtlpHttpExportDelegate(options, serializer, "otlp_http_span_exporter", metrics, undefined);
}

/** The HTTP exporter's message after retryable statuses (OTLP, "Retryable response codes"); it lacks the status. */
const tooManyTries = "Export failed with retryable status";

/**
 * Describes a failure for the log, clipped, because the text comes from the collector. A failure over HTTP has the
 * reason phrase as its message, which can be empty, and the status as its code; one over gRPC has both in its message.
 */
function textOf(error: (Error & { readonly code?: unknown }) | undefined): string {
  const { message, code } = error ?? { message: "unknown error", code: undefined };
  if (message === tooManyTries) return "status 429, 502, 503 or 504, also when asked again";
  return clip(
    typeof code === "number" && !message.startsWith(`${code} `)
      ? `status ${code} ${message}`.trim()
      : message,
  );
}

const clip = (text: string): string => text.slice(0, 200);

/** Reads the number of spans that a collector rejected in a successful answer (OTLP, "Partial success"). */
function refusedIn(data: Uint8Array): Refused {
  const { partialSuccess } = ProtobufTraceSerializer.deserializeResponse(data);
  const spans = partialSuccess?.rejectedSpans ?? 0;
  if (!(spans > 0)) return nothingRefused;
  const why = partialSuccess?.errorMessage ?? "";
  return {
    spans,
    why: clip(why === "" ? "the collector refused a part" : `the collector refused a part: ${why}`),
  };
}
