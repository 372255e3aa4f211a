import { fieldOverheadBytes } from "../field-tags.ts";
import { wireName } from "../fields.ts";
import { memoByName } from "../../message/name-memo.ts";
import type { Fields } from "../../message/fields.ts";
import type { ReadonlyHeaderList } from "../../message/message.ts";
import { encodedName, maxBlockBytes, putName, putValue } from "./encoder.ts";

/** Room for what a head has besides its fields: a status and a date. */
const ownBytes = 64;

type Name = { readonly bytes: Uint8Array; readonly name: string };

/** Names as they begin a field on the wire, by any spelling; null for those that a message must not have. */
const wireNames = memoByName((spelled): Name | null => {
  const name = wireName(spelled);
  return name === null ? null : { name, bytes: encodedName(name) };
});

/** Most octets of a block with these fields. */
export const maxFieldsBytes = (fields: ReadonlyHeaderList): number => maxBlockBytes(fields, ownBytes);

/** The same for the fields of a head. */
export const maxHeadBytes = ({ count, octets }: Pick<Fields, "count" | "octets">): number =>
  ownBytes + count * fieldOverheadBytes + octets;

/**
 * Writes fields from `from` on; those that no receiver may accept are left out (docs/features/http2.md, "Requests"). Answers
 * where the next field goes.
 */
export function putFields(into: Buffer, at: number, fields: ReadonlyHeaderList, from = 0): number {
  let next = at;
  for (let i = from; i < fields.length; i += 2) {
    const name = wireNames(fields[i] as string);
    if (name === null) continue;
    const value = fields[i + 1] as string;
    if (name.name === "te" && value !== "trailers") continue;
    const end = putValue(into, putName(into, next, name.bytes), value);
    if (end >= 0) next = end;
  }
  return next;
}
