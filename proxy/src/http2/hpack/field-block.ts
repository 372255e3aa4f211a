import { fieldOverheadBytes } from "../field-tags.ts";
import { wireName } from "../fields.ts";
import { memoByName } from "../../message/name-memo.ts";
import { nameLengthOf, startOf, valueEnd, valueStart } from "../../message/field-lines.ts";
import type { FieldVisitor } from "../../message/field-visitor.ts";
import type { Fields } from "../../message/fields.ts";
import { isNameAt } from "../../message/known-names.ts";
import type { ReadonlyHeaderList } from "../../message/message.ts";
import { encodedName, maxBlockBytes, putName, putValue, putValueAt } from "./encoder.ts";
import { staticFields } from "./static-table.ts";

/** Room for a status and a date besides the fields of a head. */
const ownBytes = 64;

const noBytes: Buffer = Buffer.alloc(0);

type Name = { readonly bytes: Uint8Array; readonly name: string };

/** Returns the encoded form of a name, for any spelling; null for names that a message must not have. */
const wireNames = memoByName((spelled): Name | null => {
  const name = wireName(spelled);
  return name === null ? null : { name, bytes: encodedName(name) };
});

/** Returns the most octets of a block with these fields. */
export const maxFieldsBytes = (fields: ReadonlyHeaderList): number => maxBlockBytes(fields, ownBytes);

/** Returns the most octets of a block with the fields of a head. */
export const maxHeadBytes = (fields: Pick<Fields, "octetsWith">): number =>
  ownBytes + fields.octetsWith(fieldOverheadBytes);

/** Names that can be found without creating a string, by their length and first letter. */
const namesByStart: (Name[] | undefined)[] = [];
/** Such names in addition to those of the static table. */
const otherNames = [
  "x-request-id",
  "x-frame-options",
  "x-content-type-options",
  "x-powered-by",
  "content-security-policy",
];
const letterBits = 5;
const letterMask = (1 << letterBits) - 1;
for (const name of new Set([...staticFields.map(([each]) => each), ...otherNames])) {
  const known = wireNames(name);
  if (known !== null)
    (namesByStart[(name.length << letterBits) | (name.charCodeAt(0) & letterMask)] ??= []).push(known);
}

/** Returns the name of `length` octets at `start` of a text, in any case; null for one that a message must not have. */
function nameAt(text: string, start: number, length: number): Name | null {
  const names = namesByStart[(length << letterBits) | (text.charCodeAt(start) & letterMask)];
  if (names !== undefined) {
    for (let i = 0; i < names.length; i++) {
      const known = names[i] as Name;
      if (isNameAt(text, start, known.name)) return known;
    }
  }
  return wireNames(text.slice(start, start + length));
}

/** Writes the visited fields, except those that no receiver may accept (docs/features/http2.md, "Requests"). */
class BlockWriter implements FieldVisitor {
  private into: Buffer = noBytes;
  private at = 0;

  /** Writes fields; returns the position of the next one. */
  write(into: Buffer, at: number, fields: Fields): number {
    this.into = into;
    this.at = at;
    fields.visit(this);
    this.into = noBytes;
    return this.at;
  }

  onLine(text: string, places: readonly number[], index: number): void {
    const place = places[index] as number;
    const name = nameAt(text, startOf(place), nameLengthOf(place));
    if (name === null) return;
    const [from, to] = [valueStart(places, index), valueEnd(places, index)];
    if (name.name === "te" && text.slice(from, to) !== "trailers") return;
    const end = putValueAt(this.into, putName(this.into, this.at, name.bytes), text, from, to);
    if (end >= 0) this.at = end;
  }

  onField(name: string, value: string): void {
    this.at = putField(this.into, this.at, name, value);
  }
}

/** Shared by all connections, because fields are written within one call. */
const writer = new BlockWriter();

/** Writes the fields of a head, from their cache if they repeat. Returns the position of the next field. */
export function putHeadFields(into: Buffer, at: number, fields: Fields): number {
  const kept = fields.encoding;
  if (kept?.bytes !== undefined) {
    into.set(kept.bytes, at);
    return at + kept.bytes.length;
  }
  const end = writer.write(into, at, fields);
  if (kept !== undefined) kept.bytes = Buffer.from(into.subarray(at, end));
  return end;
}

/** Writes the fields of a list in the same way. Returns the position of the next field. */
export function putFields(into: Buffer, at: number, fields: ReadonlyHeaderList): number {
  let next = at;
  for (let i = 0; i < fields.length; i += 2) {
    next = putField(into, next, fields[i] as string, fields[i + 1] as string);
  }
  return next;
}

/** Writes a field, or omits it if it is not allowed. */
function putField(into: Buffer, at: number, spelled: string, value: string): number {
  const name = wireNames(spelled);
  if (name === null || (name.name === "te" && value !== "trailers")) return at;
  const end = putValue(into, putName(into, at, name.bytes), value);
  return end < 0 ? at : end;
}
