import { attributeName, type AttributeValue, writeAttribute } from "../attribute.ts";
import type { EncodedSpans } from "../encoded-spans.ts";
import { ProtobufWriter } from "../protobuf-writer.ts";

/** The fields of an `ExportTraceServiceRequest` around spans of one process. */
const exported = {
  resourceSpans: 1,
  resource: 1,
  scopeSpans: 2,
  attributes: 1,
  scope: 1,
  scopeName: 1,
} as const;

/** A request to a collector; its bytes stay until it is released, if it ever is. */
export type ExportRequest = { readonly bytes: Uint8Array; release(): void };

/** Encodes requests with spans of this process, each in memory that no other has until it is released. */
export type ExportEncoder = (batch: readonly EncodedSpans[]) => ExportRequest;

/** Writers whose memory the next requests get; one request is sent at a time, unless one is given up. */
const maxSpare = 2;

/** `resource`: attributes of the process; `scopeName`: what makes the spans. Both are encoded once. */
export function createExportEncoder(
  resource: Readonly<Record<string, AttributeValue>>,
  scopeName: string,
): ExportEncoder {
  const spare = [new ProtobufWriter()];
  const take = (): ProtobufWriter => spare.pop() ?? new ProtobufWriter();
  const writer = take();
  const described = copyOf(writer, exported.resource, () => {
    for (const [name, value] of Object.entries(resource)) {
      writeAttribute(writer, exported.attributes, attributeName(name), value);
    }
  });
  const scope = copyOf(writer, exported.scope, () => writer.text(exported.scopeName, scopeName));
  spare.push(writer);
  return (batch) => {
    const own = take();
    const bytes = encoded(own, exported.resourceSpans, () => {
      own.raw(described);
      const spans = own.open(exported.scopeSpans);
      own.raw(scope);
      for (const one of batch) own.raw(one.bytes);
      own.close(spans);
    });
    let isReleased = false;
    return {
      bytes,
      release() {
        if (!isReleased && spare.length < maxSpare) spare.push(own);
        isReleased = true;
      },
    };
  };
}

/** A message in a field, with what `write` writes into it, in the memory of the writer. */
function encoded(writer: ProtobufWriter, field: number, write: () => void): Uint8Array {
  writer.begin();
  const begin = writer.open(field);
  write();
  writer.close(begin);
  return writer.finish();
}

/** The same in memory of its own. */
const copyOf = (...encoding: Parameters<typeof encoded>): Uint8Array => new Uint8Array(encoded(...encoding));
