import type { ServerResponse } from "node:http";
import type { HeaderList, ResponseHead } from "../../../message/message.ts";

/** Properties of the connection that a response head depends on. */
export type ResponseOptions = {
  /** True if the client uses HTTP/1.1: it accepts chunks, and keeps the connection without `Connection: close`. */
  readonly http11: boolean;
  readonly keepAlive: boolean;
};

/**
 * Passes the head to Node with the framing of RFC 9112 6: the length if known, otherwise chunks, or for HTTP/1.0 the
 * end of the connection. A missing Date is added (RFC 9110 6.6.1), unless the head is `undated`. Returns whether the
 * connection can stay open.
 */
export function writeHead(response: ServerResponse, head: ResponseHead, options: ResponseOptions): boolean {
  const headers = [...head.headers.toList()];
  const hasLength = settleContentLength(head, headers);
  const keepAlive = options.keepAlive && (head.bodyless || hasLength || options.http11);
  if (!options.http11) response.useChunkedEncodingByDefault = false;
  if (!keepAlive) headers.push("Connection", "close");
  else if (!options.http11) headers.push("Connection", "keep-alive");
  // Node would add `Connection: keep-alive`, which has no meaning to an HTTP/1.1 client.
  else response.removeHeader("Connection");
  if (head.undated === true) response.sendDate = false;
  response.writeHead(head.status, headers);
  return keepAlive;
}

/**
 * Makes Content-Length agree with `length`: adds it if only the length is known, and removes it if the length is no
 * longer known or the field is not allowed (RFC 9110 8.6). Returns whether the head has the field.
 */
function settleContentLength({ status, length, bodyless }: ResponseHead, headers: HeaderList): boolean {
  const forbidden = status === 204 || status < 200;
  let at = -1;
  let mustMove = false;
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string;
    if (name.length === 14 && name.toLowerCase() === "content-length") at = i;
    else if (name.length === 19 && at >= 0) mustMove ||= name.toLowerCase() === "content-disposition";
  }
  if (at < 0) {
    if (length === undefined || forbidden || status === 304) return false;
    headers.push("Content-Length", String(length));
    return true;
  }
  const remove = forbidden || (length === undefined && !bodyless);
  if (!remove && !mustMove) return true;
  const removed = headers.splice(at, 2);
  if (remove) return false;
  // Node re-encodes a Content-Disposition that follows a Content-Length, which changes its bytes.
  headers.push(...removed);
  return true;
}
