import { attributeName, type AttributeValue, writeAttribute } from "../attribute.ts";
import type { EncodedSpans } from "../encoded-spans.ts";
import { ProtobufWriter } from "../protobuf-writer.ts";

/** The field numbers of an `ExportTraceServiceRequest` and its messages around spans of one process. */
const exported = {
  resourceSpans: 1,
  resource: 1,
  scopeSpans: 2,
  attributes: 1,
  scope: 1,
  scopeName: 1,
} as const;

/** A request to a collector. Its bytes are valid until it is released; it need not be. */
export type ExportRequest = { readonly bytes: Uint8Array; release(): void };

/** Encodes requests with spans of this process, each in memory of its own until it is released. */
export type ExportEncoder = (batch: readonly EncodedSpans[]) => ExportRequest;

/** The maximum number of writers kept for reuse. One request is sent at a time, unless one is given up. */
const maxSpare = 2;

/** Creates an encoder, for the attributes of the process (`resource`) and the producer of its spans (`scopeName`). */
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

/** Encodes a field with a message whose content is written by `write`, in the memory of the writer. */
function encoded(writer: ProtobufWriter, field: number, write: () => void): Uint8Array {
  writer.begin();
  const begin = writer.open(field);
  write();
  writer.close(begin);
  return writer.finish();
}

/** Encodes like `encoded`, but returns a copy. */
const copyOf = (...encoding: Parameters<typeof encoded>): Uint8Array => new Uint8Array(encoded(...encoding));
