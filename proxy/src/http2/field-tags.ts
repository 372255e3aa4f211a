import { memoByName } from "../message/name-memo.ts";

/** The bytes that RFC 9113 6.5.2 adds per field. */
export const fieldOverheadBytes = 32;

/** The classes of fields, determined when a field is read: known ones by name, malformed ones, and all others. */
export const fieldTag = {
  plain: 0,
  malformed: 1,
  method: 2,
  path: 3,
  authority: 4,
  scheme: 5,
  protocol: 6,
  cookie: 7,
  contentLength: 8,
  contentType: 9,
  host: 10,
  priority: 11,
  status: 12,
  /** An invalid `:authority` or `Host`, such as one with userinfo: such requests are answered 400. */
  badAuthority: 13,
} as const;

const { plain, malformed } = fieldTag;

/** Reports whether a tag is that of a pseudo-field of requests; these are numbered consecutively. */
export const isPseudo = (tag: number): boolean => tag >= fieldTag.method && tag <= fieldTag.protocol;

/** Fields that are handled by name. Connection-specific ones must not be in any message (RFC 9113 8.2.2, 8.3.1). */
const namedTags: ReadonlyMap<string, number> = new Map<string, number>([
  [":method", fieldTag.method],
  [":path", fieldTag.path],
  [":authority", fieldTag.authority],
  [":scheme", fieldTag.scheme],
  [":protocol", fieldTag.protocol],
  [":status", fieldTag.status],
  ["cookie", fieldTag.cookie],
  ["content-length", fieldTag.contentLength],
  ["content-type", fieldTag.contentType],
  ["host", fieldTag.host],
  ["priority", fieldTag.priority],
  ["connection", malformed],
  ["keep-alive", malformed],
  ["proxy-connection", malformed],
  ["transfer-encoding", malformed],
  ["upgrade", malformed],
]);

/** Names are tokens in lower case (RFC 9113 8.2.1, RFC 9110 5.1). */
const fieldName = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;

const tagOfName = memoByName((name) => namedTags.get(name) ?? (fieldName.test(name) ? plain : malformed));

/** No control characters except HTAB, and no whitespace at either end (RFC 9113 8.2.1, RFC 9110 5.5). */
const fieldValue = /^(?:[!-~\x80-\xff](?:[\t -~\x80-\xff]*[!-~\x80-\xff])?)?$/;

/** The allowed values of some fields; nghttp2 allows the same characters. */
const valueForms: ReadonlyMap<number, RegExp> = new Map<number, RegExp>([
  [fieldTag.method, /^[!#$%&'*+\-.^_`|~0-9a-zA-Z]+$/],
  [fieldTag.path, /^[!-~\x80-\xff]+$/],
  [fieldTag.authority, /^[!$%&'()*+,\-.0-9:;=A-Z[\]_a-z~]+$/],
  [fieldTag.scheme, /^[a-zA-Z][0-9a-zA-Z+\-.]*$/],
  [fieldTag.protocol, /^[!#$%&'*+\-.^_`|~0-9a-zA-Z]+$/],
  [fieldTag.status, /^\d{3}$/],
  [fieldTag.contentLength, /^\d+$/],
  [fieldTag.host, /^[!$%&'()*+,\-.0-9:;=A-Z[\]_a-z~]+$/],
]);

const maxLength = String(2n ** 63n - 1n);

/** Reports whether a length exceeds 63 bits; decimal numbers of the same length compare like strings. */
function isTooLong(length: string): boolean {
  if (length.length < maxLength.length) return false;
  const digits = length.replace(/^0+/, "");
  return digits.length > maxLength.length || (digits.length === maxLength.length && digits > maxLength);
}

/** Determines the tag of a field of a request or response. */
export function judgeField(name: string, value: string): number {
  const tag = tagOfName(name);
  if (tag === plain) {
    if (name === "te" && value.toLowerCase() !== "trailers") return malformed;
    return fieldValue.test(value) ? plain : malformed;
  }
  if (!(valueForms.get(tag) ?? fieldValue).test(value)) {
    const isAuthority = tag === fieldTag.authority || tag === fieldTag.host;
    return isAuthority && fieldValue.test(value) ? fieldTag.badAuthority : malformed;
  }
  return tag === fieldTag.contentLength && isTooLong(value) ? malformed : tag;
}
