import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import { linesOf } from "../../message/field-block.ts";
import { isFieldValue } from "../../message/field-syntax.ts";
import { kindsMask } from "../../message/known-names.ts";
import type { ReadonlyHeaderList } from "../../message/message.ts";
import type { UpstreamRequest } from "../upstream.ts";

/** Methods whose requests without a body have Content-Length: 0 (RFC 9110 8.6). */
const methodsWithBody = new Set(["POST", "PUT", "PATCH"]);

/** A hop-by-hop field that is sent only to HTTP/2 upstreams (RFC 9110 10.1.4). */
const te = kindsMask("te");

/** Characters that would end the method or the target of a request line early, or be truncated by latin1. */
const foreignToStart = /[^\x21-\x7e\x80-\xff]/;

/** The length up to which a loop is faster than a regex. */
const shortLength = 64;

function isStartPart(text: string): boolean {
  if (text.length > shortLength) return !foreignToStart.test(text);
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code <= 0x20 || code > 0xff || (code >= 0x7f && code < 0x80)) return false;
  }
  return text !== "";
}

/**
 * Renders the head of a request as latin1 text. This is the single check before the wire: a method, target or field
 * that could end its line early is rejected, regardless of its source.
 */
export function renderRequestHead(request: UpstreamRequest): Result<string, "invalid request head"> {
  const { method, target, authority, upgrade } = request;
  const fields = request.headers.linesText(te);
  if (fields === undefined || !isStartPart(method) || !isStartPart(target) || !isFieldValue(authority)) {
    return fail("invalid request head");
  }
  let text = `${method} ${target} HTTP/1.1\r\nHost: ${authority}\r\n${fields}`;
  if (request.expectContinue && request.body !== null) text += "Expect: 100-continue\r\n";
  if (upgrade !== undefined) {
    if (!isFieldValue(upgrade)) return fail("invalid request head");
    text += `Connection: upgrade\r\nUpgrade: ${upgrade}\r\n`;
  } else if (request.closes === true) text += "Connection: close\r\n";
  if (request.body === null) {
    if (method !== "GET" && methodsWithBody.has(method)) text += "Content-Length: 0\r\n";
  } else {
    text +=
      request.body.length === undefined
        ? "Transfer-Encoding: chunked\r\n"
        : `Content-Length: ${request.body.length}\r\n`;
  }
  return ok(`${text}\r\n`);
}

/** Renders the end of a chunked body with its trailers; malformed trailers are omitted. */
export function renderLastChunk(trailers: ReadonlyHeaderList | undefined): string {
  const fields = trailers === undefined ? "" : linesOf(trailers, { withoutKinds: te, isSuspect: true });
  return `0\r\n${fields ?? ""}\r\n`;
}
