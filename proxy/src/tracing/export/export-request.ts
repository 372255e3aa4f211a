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

const writer = new ProtobufWriter();

/** The request to a collector with these spans, in memory of its own. */
export function encodeExport(
  resource: Readonly<Record<string, AttributeValue>>,
  scopeName: string,
  batch: readonly EncodedSpans[],
): Uint8Array {
  writer.begin();
  const all = writer.open(exported.resourceSpans);
  const described = writer.open(exported.resource);
  for (const [name, value] of Object.entries(resource))
    writeAttribute(writer, exported.attributes, attributeName(name), value);
  writer.close(described);
  const spans = writer.open(exported.scopeSpans);
  const scope = writer.open(exported.scope);
  writer.text(exported.scopeName, scopeName);
  writer.close(scope);
  for (const { bytes } of batch) writer.raw(bytes);
  writer.close(spans);
  writer.close(all);
  return new Uint8Array(writer.finish());
}
