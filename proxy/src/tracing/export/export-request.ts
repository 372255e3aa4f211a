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

/** Encodes requests to a collector, each with spans of this process, in memory of its own. */
export type ExportEncoder = (batch: readonly EncodedSpans[]) => Uint8Array;

/** `resource`: attributes of the process; `scopeName`: what makes the spans. Both are encoded once. */
export function createExportEncoder(
  resource: Readonly<Record<string, AttributeValue>>,
  scopeName: string,
): ExportEncoder {
  const writer = new ProtobufWriter();
  const described = encoded(writer, exported.resource, () => {
    for (const [name, value] of Object.entries(resource)) {
      writeAttribute(writer, exported.attributes, attributeName(name), value);
    }
  });
  const scope = encoded(writer, exported.scope, () => writer.text(exported.scopeName, scopeName));
  return (batch) =>
    encoded(writer, exported.resourceSpans, () => {
      writer.raw(described);
      const spans = writer.open(exported.scopeSpans);
      writer.raw(scope);
      for (const { bytes } of batch) writer.raw(bytes);
      writer.close(spans);
    });
}

/** A message in a field, with what `write` writes into it, in memory of its own. */
function encoded(writer: ProtobufWriter, field: number, write: () => void): Uint8Array {
  writer.begin();
  const begin = writer.open(field);
  write();
  writer.close(begin);
  return new Uint8Array(writer.finish());
}
