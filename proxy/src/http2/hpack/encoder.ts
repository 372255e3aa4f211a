import { staticFields } from "./static-table.ts";

/** Most that a field takes beyond its name and value: two lengths, each of up to five octets, and a first octet. */
const fieldOverheadBytes = 11;
/** Longer texts are written by the runtime, shorter ones here, which is faster. */
const longText = 32;

/** What a receiver must not keep in a table, nor anybody behind it (RFC 7541 7.1.3). */
const neverIndexed: ReadonlySet<string> = new Set([
  "authorization",
  "cookie",
  "proxy-authorization",
  "set-cookie",
]);

const literal = 0x00;
const literalNeverIndexed = 0x10;
const indexed = 0x80;

/** Where each name is in the static table first, and each field that has a value there. */
const staticNames = new Map<string, number>();
const staticValues = new Map<string, number>();
/** By their number; 0: it has none. */
const staticStatuses = new Uint8Array(1000);
staticFields.forEach(([name, value], at) => {
  if (!staticNames.has(name)) staticNames.set(name, at + 1);
  staticValues.set(`${name} ${value}`, at + 1);
  if (name === ":status") staticStatuses[Number(value)] = at + 1;
});

/** The largest block that `fields` can become, with `ownBytes` for what is added to them. */
export function maxBlockBytes(fields: readonly string[], ownBytes: number): number {
  let bytes = ownBytes + (fields.length / 2) * fieldOverheadBytes;
  for (const text of fields) bytes += text.length;
  return bytes;
}

/**
 * The beginning of a field of that name, which the value follows. This encoder keeps no table, so that a block depends on
 * nothing that was sent before: names come from the static table, values are literals as they are (docs/adr/0028-own-http2-codec.md).
 */
export function encodedName(name: string): Uint8Array {
  const into = Buffer.alloc(name.length + fieldOverheadBytes);
  const kind = neverIndexed.has(name) ? literalNeverIndexed : literal;
  const index = staticNames.get(name);
  if (index !== undefined) return into.subarray(0, putInteger(into, 0, kind, 4, index));
  into[0] = kind;
  const at = putInteger(into, 1, 0, 7, name.length);
  return into.subarray(0, at + into.write(name, at, "latin1"));
}

/** A whole field that many blocks have; its value must be one that receivers accept. */
export function encodedField(name: string, value: string): Uint8Array {
  const index = staticValues.get(`${name} ${value}`);
  if (index !== undefined) return Uint8Array.of(indexed | index);
  const start = encodedName(name);
  const into = Buffer.alloc(start.length + value.length + fieldOverheadBytes);
  return into.subarray(0, putValue(into, putName(into, 0, start), value));
}

/** The status of a response. Answers where the next field goes. */
export function putStatus(into: Buffer, at: number, status: number): number {
  const index = staticStatuses[status] ?? 0;
  if (index === 0) return putValue(into, putName(into, at, statusName), String(status));
  into[at] = indexed | index;
  return at + 1;
}

/** A name as `encodedName` made it, or a field of `encodedField`. */
export function putName(into: Buffer, at: number, name: Uint8Array): number {
  for (let i = 0; i < name.length; i++) into[at + i] = name[i] as number;
  return at + name.length;
}

/** A value, one octet per character. Answers where the next field goes; -1 for a value that no receiver may accept. */
export function putValue(into: Buffer, at: number, value: string): number {
  if (value.length <= longText) return putValueAt(into, at, value, 0, value.length);
  const next = putInteger(into, at, 0, 7, value.length);
  return unsafeOctet.test(value) ? -1 : next + into.write(value, next, "latin1");
}

/** The same for a value that is at `from` to `to` of a text. */
export function putValueAt(into: Buffer, at: number, text: string, from: number, to: number): number {
  if (to - from > longText) return putValue(into, at, text.slice(from, to));
  let next = putInteger(into, at, 0, 7, to - from);
  for (let i = from; i < to; i++) {
    const octet = text.charCodeAt(i);
    if (octet > 255 || (octet < 14 && (octet === 0 || octet === 10 || octet === 13))) return -1;
    into[next++] = octet;
  }
  return next;
}

/** Says that the table of this direction is empty and stays so, which a new limit of the peer asks for (RFC 7541 4.2). */
export function putNoTable(into: Buffer, at: number): number {
  into[at] = 0x20;
  return at + 1;
}

/** A number with a prefix of `bits` bits in an octet that has `first` above it (RFC 7541 5.1). */
function putInteger(into: Uint8Array, at: number, first: number, bits: number, value: number): number {
  const most = (1 << bits) - 1;
  if (value < most) {
    into[at] = first | value;
    return at + 1;
  }
  into[at] = first | most;
  let next = at + 1;
  let rest = value - most;
  for (; rest > 0x7f; rest >>>= 7) into[next++] = (rest & 0x7f) | 0x80;
  into[next] = rest;
  return next + 1;
}

const statusName = encodedName(":status");

/** NUL, CR and LF (RFC 9113 8.2.1), and what is no octet, of which another one would be written. */
// oxlint-disable-next-line no-control-regex
const unsafeOctet = /[\0\r\n\u0100-\uffff]/;
