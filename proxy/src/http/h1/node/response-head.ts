import type { ServerResponse } from "node:http";
import type { HeaderList, ResponseHead } from "../../../message/message.ts";

/** What the connection allows, besides the response itself. */
export type ResponseOptions = {
  /** The client speaks HTTP/1.1: it accepts chunks, and keeps the connection without Connection: close. */
  readonly http11: boolean;
  readonly keepAlive: boolean;
};

/**
 * Gives the head to Node with the framing of RFC 9112 6: the length that came, else chunks, else (HTTP/1.0) the end of
 * the connection. Date is added where it is missing (RFC 9110 6.6.1), unless the head is to have none. Answers whether the
 * connection can stay open.
 */
export function writeHead(response: ServerResponse, head: ResponseHead, options: ResponseOptions): boolean {
  const headers = [...head.headers.toList()];
  const hasLength = settleContentLength(head, headers);
  const keepAlive = options.keepAlive && (head.bodyless || hasLength || options.http11);
  if (!options.http11) response.useChunkedEncodingByDefault = false;
  if (!keepAlive) headers.push("Connection", "close");
  else if (!options.http11) headers.push("Connection", "keep-alive");
  // Node would add `Connection: keep-alive`, which says nothing to an HTTP/1.1 client.
  else response.removeHeader("Connection");
  if (head.undated === true) response.sendDate = false;
  response.writeHead(head.status, headers);
  return keepAlive;
}

/**
 * Makes Content-Length agree with `length`: added where only the length is known, removed where the length became
 * unknown on the way, or where none is allowed (RFC 9110 8.6). Answers whether the head has one.
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
