/**
 * The OpenTelemetry exporters: a program of its own, loaded only where traces are exported, so that it costs nothing elsewhere
 * (docs/adr/0034-tracing.md).
 */
import { credentials, Metadata } from "@grpc/grpc-js";
import { OTLPTraceExporter as GrpcExporter } from "@opentelemetry/exporter-trace-otlp-grpc";
import { OTLPTraceExporter as HttpExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { type Resource, resourceFromAttributes } from "@opentelemetry/resources";
import type { SpanLine, SpanRecord } from "../span-record.ts";
import type { SendBatch } from "./span-queue.ts";

type ReadableSpan = Parameters<HttpExporter["export"]>[0][number];
type Exporter = Pick<HttpExporter, "export" | "shutdown">;

export type OtlpOptions = {
  readonly protocol: "grpc" | "http/protobuf";
  readonly endpoint: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Certificate authorities of the collector in PEM; undefined: those of the system. */
  readonly caBundle: Buffer | undefined;
  /** Of one try of a batch, in milliseconds. */
  readonly timeoutMs: number;
  /** Attributes of the process that makes the spans. */
  readonly resource: Readonly<Record<string, string>>;
};

export type OtlpExporter = { readonly send: SendBatch; close(): Promise<void> };

type ExportResult = { readonly code: number; readonly error?: Error };
const exported = 0;

/** Creates an exporter; it connects with its first batch. */
export function createOtlpExporter(options: OtlpOptions): OtlpExporter {
  const exporter = options.protocol === "grpc" ? grpcExporter(options) : httpExporter(options);
  const resource = resourceFromAttributes(options.resource);
  return {
    send: (batch) =>
      new Promise((resolve) => {
        const spans = batch.flatMap((line) => line.spans.map((span) => readable(line, span, resource)));
        exporter.export(spans, ({ code, error }: ExportResult) =>
          resolve(code === exported ? undefined : textOf(error)),
        );
      }),
    close: () => exporter.shutdown().catch(() => undefined),
  };
}

function grpcExporter({ endpoint, headers, caBundle, timeoutMs }: OtlpOptions): Exporter {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  return new GrpcExporter({
    url: endpoint.href,
    timeoutMillis: timeoutMs,
    metadata,
    credentials:
      endpoint.protocol === "https:" ? credentials.createSsl(caBundle ?? null) : credentials.createInsecure(),
  });
}

function httpExporter({ endpoint, headers, caBundle, timeoutMs }: OtlpOptions): Exporter {
  const url = new URL(endpoint);
  // As for OTEL_EXPORTER_OTLP_ENDPOINT, a URL without a path is the base of those of all signals.
  if (url.pathname === "/") url.pathname = "/v1/traces";
  return new HttpExporter({
    url: url.href,
    timeoutMillis: timeoutMs,
    headers: { ...headers },
    httpAgentOptions: { keepAlive: true, ...(caBundle !== undefined && { ca: caBundle }) },
  });
}

/** What a collector has answered may be long, and may be anything. */
const textOf = (error: Error | undefined): string => (error?.message ?? "unknown error").slice(0, 200);

const scope = { name: "svc-gateway" };
const kinds = { server: 1, client: 2 } as const;
const statusError = 2;
const statusUnset = 0;

function readable(line: SpanLine, span: SpanRecord, resource: Resource): ReadableSpan {
  const { traceId, flags: traceFlags, state } = line;
  const context = {
    traceId,
    spanId: span.spanId,
    traceFlags,
    ...(state !== "" && { traceState: frozenState(state) }),
  };
  return {
    name: span.name,
    kind: kinds[span.kind],
    spanContext: () => context,
    ...(span.parentId !== undefined && {
      parentSpanContext: { traceId, spanId: span.parentId, traceFlags, isRemote: span.isParentRemote },
    }),
    startTime: hrTime(span.startMs),
    endTime: hrTime(span.endMs),
    duration: hrTime(span.endMs - span.startMs),
    ended: true,
    status: span.error === undefined ? { code: statusUnset } : { code: statusError, message: span.error },
    attributes: span.attributes,
    links: [],
    events: [],
    resource,
    instrumentationScope: scope,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

/** Exporters only write it. */
const frozenState = (text: string) => ({
  get: () => undefined,
  set: () => frozenState(text),
  unset: () => frozenState(text),
  serialize: () => text,
});

const hrTime = (milliseconds: number): [number, number] => {
  const seconds = Math.floor(milliseconds / 1000);
  return [seconds, Math.round((milliseconds - seconds * 1000) * 1e6)];
};
