import { staticFields } from "./static-table.ts";

/** The most octets of a field besides its name and value: two lengths of up to five octets each, and a first octet. */
const fieldOverheadBytes = 11;
/** The length up to which a loop here writes texts faster than the runtime. */
const longText = 32;

/** Fields that neither the receiver nor later hops may keep in a table (RFC 7541 7.1.3). */
const neverIndexed: ReadonlySet<string> = new Set([
  "authorization",
  "cookie",
  "proxy-authorization",
  "set-cookie",
]);

const literal = 0x00;
const literalNeverIndexed = 0x10;
const indexed = 0x80;

/** The first index of each name in the static table, and the index of each field that has a value there. */
const staticNames = new Map<string, number>();
const staticValues = new Map<string, number>();
/** The index in the static table for each status; 0 if it has none. */
const staticStatuses = new Uint8Array(1000);
staticFields.forEach(([name, value], at) => {
  if (!staticNames.has(name)) staticNames.set(name, at + 1);
  staticValues.set(`${name} ${value}`, at + 1);
  if (name === ":status") staticStatuses[Number(value)] = at + 1;
});

/** Returns the largest possible size of the block of `fields`, with `ownBytes` for added ones. */
export function maxBlockBytes(fields: readonly string[], ownBytes: number): number {
  let bytes = ownBytes + (fields.length / 2) * fieldOverheadBytes;
  for (const text of fields) bytes += text.length;
  return bytes;
}

/**
 * Returns the encoded beginning of a field of that name, which the value follows. This encoder keeps no dynamic table,
 * so that a block does not depend on earlier ones: names use the static table, values are literals without Huffman
 * coding (docs/adr/0028-own-http2-codec.md).
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

/** Encodes a whole field that many blocks contain; its value must be one that receivers accept. */
export function encodedField(name: string, value: string): Uint8Array {
  const index = staticValues.get(`${name} ${value}`);
  if (index !== undefined) return Uint8Array.of(indexed | index);
  const start = encodedName(name);
  const into = Buffer.alloc(start.length + value.length + fieldOverheadBytes);
  return into.subarray(0, putValue(into, putName(into, 0, start), value));
}

/** Writes the status of a response. Returns the position of the next field. */
export function putStatus(into: Buffer, at: number, status: number): number {
  const index = staticStatuses[status] ?? 0;
  if (index === 0) return putValue(into, putName(into, at, statusName), String(status));
  into[at] = indexed | index;
  return at + 1;
}

/** Writes the result of `encodedName` or `encodedField`. Returns the position after it. */
export function putName(into: Buffer, at: number, name: Uint8Array): number {
  for (let i = 0; i < name.length; i++) into[at + i] = name[i] as number;
  return at + name.length;
}

/** Writes a value, one octet per character. Returns the position of the next field; -1 for a forbidden value. */
export function putValue(into: Buffer, at: number, value: string): number {
  if (value.length <= longText) return putValueAt(into, at, value, 0, value.length);
  const next = putInteger(into, at, 0, 7, value.length);
  return unsafeOctet.test(value) ? -1 : next + into.write(value, next, "latin1");
}

/** Like `putValue`, for a value at `from` to `to` of a text. */
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

/**
 * Writes a size update to 0, since a new limit of the peer must be confirmed, and this direction has no table (RFC 7541
 * 4.2).
 */
export function putNoTable(into: Buffer, at: number): number {
  into[at] = 0x20;
  return at + 1;
}

/** Writes a number with a prefix of `bits` bits, in an octet whose upper bits are `first` (RFC 7541 5.1). */
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

/** NUL, CR and LF (RFC 9113 8.2.1), and characters beyond latin1, which would be written as other octets. */
// oxlint-disable-next-line no-control-regex
const unsafeOctet = /[\0\r\n\u0100-\uffff]/;
