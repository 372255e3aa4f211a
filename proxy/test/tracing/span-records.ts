import { attributeName, type AttributeValue } from "../../src/tracing/attribute.ts";
import { decodeRecords } from "../../src/tracing/encoded-spans.ts";
import { createExportEncoder } from "../../src/tracing/export/export-request.ts";
import { type SpanHead, SpanWriter } from "../../src/tracing/span-writer.ts";
import type { TraceIdentity } from "../../src/tracing/trace-identity.ts";
import { type CollectedSpan, decodeExport } from "./collector.ts";

/** All that is written of a span. */
export type SpanRecord = SpanHead & {
  readonly attributes: Readonly<Record<string, AttributeValue>>;
  /** Set where the span is an error. */
  readonly error: string | undefined;
};

const writer = new SpanWriter();

/** The record of the spans of one request, as a view that is valid until the next one. */
export function encodeSpans(identity: TraceIdentity, spans: readonly SpanRecord[]): Uint8Array {
  writer.begin();
  for (const span of spans) {
    writer.open(identity, span);
    for (const [name, value] of Object.entries(span.attributes)) {
      writer.attribute(attributeName(name), value);
    }
    writer.close(span.error);
  }
  return writer.finish();
}

const exportOf = createExportEncoder({ "service.name": "edge" }, "svc-gateway");

/** The spans that a collector decodes from the export of some records. */
export const collected = (records: Uint8Array): readonly CollectedSpan[] =>
  decodeExport(exportOf([...decodeRecords(records)]).bytes);
