/** Most bytes of a response head, names and values (docs/features/http2.md, "Towards backends"). */
export const maxHeadBytes = 65_536;
/** Most fields of a response head. */
export const maxFields = 200;

/** Statuses whose responses have no body (RFC 9110 6.4.1). */
export const isBodyless = (method: string, status: number): boolean =>
  method === "HEAD" || status === 204 || status === 304;

/** Returns why a head with well-formed fields is unusable, as text for the access log; undefined if it is usable. */
export function faultOfHead(head: {
  readonly status: number;
  readonly length: number | undefined;
  /** Size of all names and values. */
  readonly bytes: number;
  readonly fields: number;
}): string | undefined {
  const { status, length, bytes, fields } = head;
  if (!Number.isInteger(status) || status < 100 || status > 599 || status === 101) {
    return "invalid response status";
  }
  // A length that a number cannot represent exactly would be forwarded as another one.
  if (length !== undefined && !Number.isSafeInteger(length)) return "invalid content-length";
  return bytes > maxHeadBytes || fields > maxFields ? "response header too large" : undefined;
}
