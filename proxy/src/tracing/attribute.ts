import { ProtobufWriter } from "./protobuf-writer.ts";

/** The name of an attribute, encoded as a field of a `KeyValue` (opentelemetry/proto/common/v1/common.proto). */
export type AttributeName = Buffer;

export type AttributeValue = string | number | boolean;

const keyValue = { key: 1, value: 2 } as const;
const anyValue = { text: 1, boolean: 2, integer: 3, double: 4 } as const;

/** The length to which texts are cut, in UTF-16 units, so that clients cannot fill the memory of collectors. */
const maxTextLength = 1024;

export const bounded = (text: string): string =>
  text.length <= maxTextLength ? text : text.slice(0, maxTextLength);

/** The writer for attribute names, which are encoded when the modules are loaded. */
const writer = new ProtobufWriter();

export function attributeName(name: string): AttributeName {
  writer.begin();
  writer.text(keyValue.key, name);
  return Buffer.from(writer.finish());
}

/** Writes an attribute as a `KeyValue` in a field of the message that is being written. */
export function writeAttribute(
  to: ProtobufWriter,
  field: number,
  name: AttributeName,
  value: AttributeValue,
): void {
  const begin = to.open(field);
  to.raw(name);
  const of = to.open(keyValue.value);
  if (typeof value === "string") to.text(anyValue.text, bounded(value));
  else if (typeof value === "boolean") to.boolean(anyValue.boolean, value);
  else if (Number.isSafeInteger(value) && value >= 0) to.integer(anyValue.integer, value);
  else to.double(anyValue.double, value);
  to.close(of);
  to.close(begin);
}
