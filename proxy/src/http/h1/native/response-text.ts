import { STATUS_CODES } from "node:http";
import { type RefusalReason, refusalStatus } from "../refusal.ts";
import { dateNow } from "../../../message/date-now.ts";
import { linesOf } from "../../../message/field-block.ts";
import type { Fields } from "../../../message/fields.ts";
import { kindsMask } from "../../../message/known-names.ts";
import { renderReply } from "../../../message/local-reply.ts";
import type { ReadonlyHeaderList, ResponseHead } from "../../../message/message.ts";

/** Properties of the connection that a response head depends on. */
export type ResponseOptions = {
  /** True if the client uses HTTP/1.1: it accepts chunks, and keeps the connection without `Connection: close`. */
  readonly http11: boolean;
  readonly keepAlive: boolean;
};

/** The text of a head, and its consequences for body and connection. */
export type RenderedHead = {
  readonly text: string;
  /** True if the body must be sent in chunks. */
  readonly chunked: boolean;
  /** True if the connection can stay open. */
  readonly keepAlive: boolean;
};

const contentLength = kindsMask("contentLength");

const statusLines = new Map<number, string>();

function statusLine(status: number): string {
  const known = statusLines.get(status);
  if (known !== undefined) return known;
  const line = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? "unknown"}\r\n`;
  // Statuses have three digits, so the size of the map is bounded.
  statusLines.set(status, line);
  return line;
}

/** Returns a Date line with the current time. */
const dateLine = (): string => `Date: ${dateNow()}\r\n`;

/**
 * Renders the head of a final response with the framing of RFC 9112 6: the length if known, otherwise chunks, or for
 * HTTP/1.0 the end of the connection. Content-Length is made to agree with `length`: added if only that is known, and
 * omitted if the length is no longer known or the field is not allowed (RFC 9110 8.6). Returns undefined if a field is
 * malformed.
 */
export function renderHead(head: ResponseHead, options: ResponseOptions): RenderedHead | undefined {
  const { headers, status, length, bodyless } = head;
  const isLengthForbidden = status === 204 || status < 200;
  const keepsLength = !isLengthForbidden && (length !== undefined || bodyless);
  const lines = headers.linesText(keepsLength ? 0 : contentLength);
  if (lines === undefined) return undefined;
  let text = statusLine(status) + lines;
  let hasLength = keepsLength && headers.has("content-length");
  if (!hasLength && length !== undefined && !isLengthForbidden && status !== 304) {
    hasLength = true;
    text += `Content-Length: ${length}\r\n`;
  }
  const keepAlive = options.keepAlive && (bodyless || hasLength || options.http11);
  // `keep-alive` has no meaning to an HTTP/1.1 client.
  if (!keepAlive) text += "Connection: close\r\n";
  else if (!options.http11) text += "Connection: keep-alive\r\n";
  if (head.undated !== true && !headers.has("date")) text += dateLine();
  const chunked = !bodyless && !hasLength && options.http11 && !isLengthForbidden && status !== 304;
  if (chunked) text += "Transfer-Encoding: chunked\r\n";
  text += "\r\n";
  return { text, chunked, keepAlive };
}

/** Renders the answer to a refused request, after which the connection closes; `method` is that read, if any. */
export function renderRefusal(reason: RefusalReason, method: string | undefined): string {
  const { head, body } = renderReply(
    { status: refusalStatus[reason] },
    { head: method === "HEAD", grpc: false },
  );
  // Fields of the proxy itself are well formed.
  return `${renderHead(head, { http11: true, keepAlive: false })?.text}${body}`;
}

/** Renders a 1xx head; returns undefined if a field is malformed. */
export function renderInterimHead(status: number, headers: ReadonlyHeaderList): string | undefined {
  const fields = renderFields(headers);
  return fields === undefined ? undefined : `${statusLine(status)}${fields}\r\n`;
}

/**
 * Renders a 101, adding the fields that make it an upgrade (RFC 9110 7.8) if missing; undefined if a field is
 * malformed.
 */
export function renderUpgradeHead(headers: Fields): string | undefined {
  const fields = headers.linesText();
  if (fields === undefined) return undefined;
  const upgrade = headers.has("upgrade") ? "" : "Upgrade: websocket\r\n";
  const connection = headers.has("connection") ? "" : "Connection: Upgrade\r\n";
  const date = headers.has("date") ? "" : dateLine();
  return `${statusLine(101)}${fields}${upgrade}${connection}${date}\r\n`;
}

/** Renders the end of a chunked body; returns undefined if a trailer is malformed. */
export function renderLastChunk(trailers: ReadonlyHeaderList | undefined): string | undefined {
  if (trailers === undefined) return "0\r\n\r\n";
  const fields = renderFields(trailers);
  return fields === undefined ? undefined : `0\r\n${fields}\r\n`;
}

const renderFields = (list: ReadonlyHeaderList): string | undefined =>
  linesOf(list, { withoutKinds: 0, isSuspect: true });
