import type { OutgoingHttpHeaders } from "node:http2";
import { fieldPairs } from "../message/field-list.ts";
import type { Fields } from "../message/fields.ts";
import type { HeaderList, ReadonlyHeaderList } from "../message/message.ts";
import { memoByName } from "../message/name-memo.ts";

/** Fields that HTTP/2 messages must not carry (RFC 9113 8.2.2), by lower-case name. */
const connectionFields = new Set([
  "connection",
  "http2-settings",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
  "upgrade",
]);

/** Returns the form of a name on the wire, for any spelling; null for names that must not be sent. */
export const wireName = memoByName((name): string | null => {
  const lower = name.toLowerCase();
  const allowed = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/.test(lower) && !connectionFields.has(lower);
  return allowed ? lower : null;
});

/** NUL, CR and LF: Node separates fields by NUL in its list, and HTTP/1 hops separate them by CR and LF. */
// oxlint-disable-next-line no-control-regex
const unsafeValue = /[\0\r\n]/;

/**
 * Appends fields in the form that HTTP/2 requires: lower-case names, no connection-specific fields, TE only as
 * `trailers`. Fields that no receiver could accept are omitted.
 */
export function appendFields(target: string[], fields: ReadonlyHeaderList): void {
  for (let i = 0; i < fields.length; i += 2) {
    const name = wireName(fields[i] as string);
    const value = fields[i + 1] as string;
    if (name === null || unsafeValue.test(value)) continue;
    if (name === "te" && value !== "trailers") continue;
    target.push(name, value);
  }
}

/** The largest header block that nghttp2 sends or reads. */
const maxBlockBytes = 65_536;
/** The bytes that nghttp2 counts per field besides name and value, and room for status and date. */
const blockFieldBytes = 12;
const blockOwnBytes = 128;

/** Reports whether a message with these fields can be sent. Otherwise Node resets its stream without an error. */
export const fitsHeaderBlock = (fields: Pick<Fields, "octetsWith">): boolean =>
  blockOwnBytes + fields.octetsWith(blockFieldBytes) <= maxBlockBytes;

/** Returns fields as an object, for the few functions of Node that do not accept a list: 1xx heads and trailers. */
export function fieldObject(fields: ReadonlyHeaderList): OutgoingHttpHeaders {
  const flat: HeaderList = [];
  appendFields(flat, fields);
  const object: Record<string, string | string[]> = Object.create(null) as Record<string, string[]>;
  for (const [name, value] of fieldPairs(flat)) {
    const before = object[name];
    object[name] = before === undefined ? value : [...(Array.isArray(before) ? before : [before]), value];
  }
  return object;
}
