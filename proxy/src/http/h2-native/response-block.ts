import { encodedName, maxBlockBytes, putName, putStatus, putValue } from "../../http2/hpack/encoder.ts";
import { wireName } from "../../http2/fields.ts";
import type { HeaderList, ReadonlyHeaderList, ResponseHead } from "../../message/message.ts";
import { dateNow } from "../../message/date-now.ts";
import { firstField } from "../../message/fields.ts";
import { memoByName } from "../../message/name-memo.ts";

/** Room for the status and a date. */
const ownBytes = 64;

type Name = { readonly bytes: Uint8Array; readonly name: string };

/** Names as they begin a field on the wire, by any spelling; null for those that a message must not have. */
const wireNames = memoByName((spelled): Name | null => {
  const name = wireName(spelled);
  return name === null ? null : { name, bytes: encodedName(name) };
});

const dateName = encodedName("date");

/** Most octets of a block with these fields. */
export const maxFieldsBytes = (fields: ReadonlyHeaderList): number => maxBlockBytes(fields, ownBytes);

/** Writes the block of a final head; Date is added where it is missing, unless it is to have none. */
export function putResponseHead(into: Buffer, at: number, head: ResponseHead): number {
  const next = putStatus(into, at, head.status);
  const isDated = head.undated === true || firstField(head.headers, "date") !== undefined;
  const end = putFields(into, next, head.headers);
  return isDated ? end : putValue(into, putName(into, end, dateName), dateNow());
}

/** Writes the block of an informational head. */
export const putInformational = (into: Buffer, at: number, status: number, fields: HeaderList): number =>
  putFields(into, putStatus(into, at, status), fields);

/** Writes fields; those that no receiver may accept are left out (docs/features/http2.md, "Requests"). */
export function putFields(into: Buffer, at: number, fields: ReadonlyHeaderList): number {
  let next = at;
  for (let i = 0; i < fields.length; i += 2) {
    const name = wireNames(fields[i] as string);
    if (name === null) continue;
    const value = fields[i + 1] as string;
    if (name.name === "te" && value !== "trailers") continue;
    const end = putValue(into, putName(into, next, name.bytes), value);
    if (end >= 0) next = end;
  }
  return next;
}
