/**
 * The format of spans on their way to the main thread: one record for each request, encoded as for the collector, so
 * that no code needs to parse them in between (docs/adr/0034-tracing.md).
 *
 * A record consists of the length of its remainder (32 bits), the number of spans (16 bits), and the spans as fields of
 * a `ScopeSpans` of OTLP (opentelemetry/proto/trace/v1/trace.proto).
 */
import type { ProtobufWriter } from "./protobuf-writer.ts";

/** The spans of one request; `bytes` are fields of a `ScopeSpans`. */
export type EncodedSpans = { readonly count: number; readonly bytes: Uint8Array };

const lengthBytes = 4;
const countBytes = 2;
const header = Buffer.alloc(lengthBytes + countBytes);

/** Begins a record with its header, which `endRecord` fills in. */
export function beginRecord(writer: ProtobufWriter): void {
  writer.begin();
  writer.raw(header);
}

/** Returns the record of the spans written since `beginRecord`, as a view that is valid until the next call of it. */
export function endRecord(writer: ProtobufWriter, spans: number): Uint8Array {
  const record = writer.finish();
  record.writeUInt32LE(record.length - lengthBytes, 0);
  record.writeUInt16LE(spans, lengthBytes);
  return record;
}

/** Yields the spans of whole records, as views of the records. */
export function* decodeRecords(records: Uint8Array): Generator<EncodedSpans> {
  const view = new DataView(records.buffer, records.byteOffset, records.byteLength);
  for (let at = 0; at < records.length;) {
    const end = at + lengthBytes + view.getUint32(at, true);
    const begin = at + lengthBytes + countBytes;
    yield { count: view.getUint16(at + lengthBytes, true), bytes: records.subarray(begin, end) };
    at = end;
  }
}
