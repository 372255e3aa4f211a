/**
 * Spans on their way to the main thread: those of one request in one record, in the form in which a collector gets them, so that
 * nothing needs to read them in between (docs/adr/0034-tracing.md).
 *
 * A record is the length of what follows the length (32 bits), the number of spans (16 bits), and the spans as fields of a
 * `ScopeSpans` of OTLP (opentelemetry/proto/trace/v1/trace.proto).
 */
import { ProtobufWriter } from "./protobuf-writer.ts";
import { bounded, type SpanAttributes, type SpanRecord, type TraceIdentity } from "./span-record.ts";

/** The spans of one request; `bytes` are fields of a `ScopeSpans`. */
export type EncodedSpans = { readonly count: number; readonly bytes: Uint8Array };

const lengthBytes = 4;
const countBytes = 2;
const header = Buffer.alloc(lengthBytes + countBytes);
/** Each worker has its own. */
const writer = new ProtobufWriter();

/** The fields of a `ScopeSpans`, of a `Span`, and of what is in it. */
const spansField = 2;
const span = {
  traceId: 1,
  spanId: 2,
  traceState: 3,
  parentSpanId: 4,
  name: 5,
  kind: 6,
  startTime: 7,
  endTime: 8,
  attributes: 9,
  status: 15,
  flags: 16,
} as const;
const statusFields = { message: 2, code: 3 } as const;
const keyValue = { key: 1, value: 2 } as const;
const anyValue = { text: 1, boolean: 2, integer: 3, double: 4 } as const;

const kinds = { server: 2, client: 3 } as const;
const statusError = 2;
/** Whether the parent is remote is known, and it is. */
const hasIsRemote = 0x100;
const isRemote = 0x200;

/** A record, as a view that is valid until the next one is encoded. */
export function encodeSpans(identity: TraceIdentity, spans: readonly SpanRecord[]): Uint8Array {
  writer.begin();
  writer.raw(header);
  for (const one of spans) writeSpan(identity, one);
  const record = writer.finish();
  const view = new DataView(record.buffer, record.byteOffset, record.byteLength);
  view.setUint32(0, record.length - lengthBytes, true);
  view.setUint16(lengthBytes, spans.length, true);
  return record;
}

/** The spans of whole records, as views of them. */
export function* decodeRecords(records: Uint8Array): Generator<EncodedSpans> {
  const view = new DataView(records.buffer, records.byteOffset, records.byteLength);
  for (let at = 0; at < records.length;) {
    const end = at + lengthBytes + view.getUint32(at, true);
    const begin = at + lengthBytes + countBytes;
    yield { count: view.getUint16(at + lengthBytes, true), bytes: records.subarray(begin, end) };
    at = end;
  }
}

function writeSpan({ traceId, flags, caller }: TraceIdentity, record: SpanRecord): void {
  const begin = writer.open(spansField);
  writer.hex(span.traceId, traceId);
  writer.hex(span.spanId, record.spanId);
  if (caller !== undefined && caller.state !== "") writer.text(span.traceState, caller.state);
  if (record.parentId !== undefined) writer.hex(span.parentSpanId, record.parentId);
  writer.text(span.name, record.name);
  writer.integer(span.kind, kinds[record.kind]);
  writer.nanoseconds(span.startTime, record.startMs);
  writer.nanoseconds(span.endTime, record.endMs);
  writeAttributes(record.attributes);
  if (record.error !== undefined) {
    const status = writer.open(span.status);
    if (record.error !== "") writer.text(statusFields.message, bounded(record.error));
    writer.integer(statusFields.code, statusError);
    writer.close(status);
  }
  writer.fixed32(span.flags, flags | hasIsRemote | (record.isParentRemote ? isRemote : 0));
  writer.close(begin);
}

function writeAttributes(attributes: SpanAttributes): void {
  for (const name in attributes) {
    const value = attributes[name];
    if (value !== undefined) writeAttribute(writer, span.attributes, name, value);
  }
}

function writeAttribute(
  to: ProtobufWriter,
  field: number,
  name: string,
  value: SpanAttributes[string],
): void {
  const begin = to.open(field);
  to.text(keyValue.key, name);
  const of = to.open(keyValue.value);
  if (typeof value === "string") to.text(anyValue.text, bounded(value));
  else if (typeof value === "boolean") to.boolean(anyValue.boolean, value);
  else if (Number.isSafeInteger(value) && value >= 0) to.integer(anyValue.integer, value);
  else to.double(anyValue.double, value);
  to.close(of);
  to.close(begin);
}

/** The fields of an `ExportTraceServiceRequest` around spans of one process. */
const exported = {
  resourceSpans: 1,
  resource: 1,
  scopeSpans: 2,
  attributes: 1,
  scope: 1,
  scopeName: 1,
} as const;

/** Of the thread that exports. */
const exportWriter = new ProtobufWriter();

/** The request to a collector with these spans, in memory of its own. */
export function encodeExport(
  resource: SpanAttributes,
  scopeName: string,
  batch: readonly EncodedSpans[],
): Uint8Array {
  exportWriter.begin();
  const all = exportWriter.open(exported.resourceSpans);
  const described = exportWriter.open(exported.resource);
  for (const [name, value] of Object.entries(resource))
    writeAttribute(exportWriter, exported.attributes, name, value);
  exportWriter.close(described);
  const spans = exportWriter.open(exported.scopeSpans);
  const scope = exportWriter.open(exported.scope);
  exportWriter.text(exported.scopeName, scopeName);
  exportWriter.close(scope);
  for (const { bytes } of batch) exportWriter.raw(bytes);
  exportWriter.close(spans);
  exportWriter.close(all);
  return new Uint8Array(exportWriter.finish());
}
