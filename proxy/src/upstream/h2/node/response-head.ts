import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import type { HeaderList, ResponseHead } from "../../message/message.ts";

/** Most bytes of a response head, names and values (docs/features/http2.md, "Towards backends"). */
const maxHeadBytes = 65_536;
/** Most fields of a response head. */
const maxFields = 200;

/** Statuses whose responses have no body (RFC 9110 6.4.1). */
const isBodyless = (method: string, status: number): boolean =>
  method === "HEAD" || status === 204 || status === 304;

/**
 * Reads the flat field list of a response. nghttp2 has refused malformed names, fields of a single connection and
 * contradictory lengths. The error is the text for the access log.
 */
export function readResponseHead(
  raw: readonly string[],
  method: string,
): Result<ResponseHead & { readonly status: number }, string> {
  const headers: HeaderList = [];
  let status = 0;
  let length: number | undefined;
  let bytes = 0;
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] as string;
    const value = raw[i + 1] as string;
    if (name === ":status") {
      status = Number(value);
      continue;
    }
    bytes += name.length + value.length;
    if (name === "content-length") length = Number(value);
    headers.push(name, value);
  }
  if (!Number.isInteger(status) || status < 100 || status > 599 || status === 101) {
    return fail("invalid response status");
  }
  // A length that a number cannot hold exactly would be forwarded as another one.
  if (length !== undefined && !Number.isSafeInteger(length)) return fail("invalid content-length");
  if (bytes > maxHeadBytes || headers.length > 2 * maxFields) return fail("response header too large");
  return ok({ status, headers, length, bodyless: isBodyless(method, status) });
}
