import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import type { ReadonlyHeaderList } from "../../http/message.ts";
import type { UpstreamRequest } from "../upstream.ts";

/** Methods whose requests say so when they have no body (RFC 9110 8.6). */
const methodsWithBody = new Set(["POST", "PUT", "PATCH"]);

/** Control characters, a bare CR, and what latin1 cannot hold (it would be cut to its low byte). */
const foreign = /[^\t\r\n\x20-\x7e\x80-\xff]|\r(?!\n)/;
const malformedStart = /[^\x21-\x7e\x80-\xff]/;

/**
 * Renders the head of a request as latin1 text. This is the one place that vouches for what goes onto the wire: a
 * method, target or field that could end its line early is refused, wherever it came from.
 */
export function renderRequestHead(request: UpstreamRequest): Result<string, "invalid request head"> {
  const { method, target, headers, upgrade } = request;
  if (malformedStart.test(method) || malformedStart.test(target) || target === "" || method === "") {
    return fail("invalid request head");
  }
  let text = `${method} ${target} HTTP/1.1\r\nHost: ${request.authority}\r\n`;
  let lines = 2;
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string;
    // A hop-by-hop field that only an HTTP/2 upstream is told (RFC 9110 10.1.4).
    if (name.length === 2 && name.toLowerCase() === "te") continue;
    text += `${name}: ${headers[i + 1] as string}\r\n`;
    lines++;
  }
  if (request.expectContinue && request.body !== null) {
    text += "Expect: 100-continue\r\n";
    lines++;
  }
  if (upgrade !== undefined) {
    text += `Connection: upgrade\r\nUpgrade: ${upgrade}\r\n`;
    lines += 2;
  }
  if (request.body === null) {
    if (methodsWithBody.has(method)) {
      text += "Content-Length: 0\r\n";
      lines++;
    }
  } else {
    text +=
      request.body.length === undefined
        ? "Transfer-Encoding: chunked\r\n"
        : `Content-Length: ${request.body.length}\r\n`;
    lines++;
  }
  text += "\r\n";
  return isWellFormed(text, lines + 1) ? ok(text) : fail("invalid request head");
}

/** Renders the end of a chunked body with its trailers; trailers that are not well formed are left out. */
export function renderLastChunk(trailers: ReadonlyHeaderList | undefined): string {
  if (trailers === undefined) return "0\r\n\r\n";
  let text = "0\r\n";
  for (let i = 0; i < trailers.length; i += 2) {
    text += `${trailers[i] as string}: ${trailers[i + 1] as string}\r\n`;
  }
  text += "\r\n";
  return isWellFormed(text, trailers.length / 2 + 2) ? text : "0\r\n\r\n";
}

/** True when the text consists of exactly this many lines, all ended by CRLF, without control characters. */
function isWellFormed(text: string, lines: number): boolean {
  if (foreign.test(text)) return false;
  let found = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) {
    if (text.charCodeAt(at - 1) !== 0x0d) return false;
    found++;
  }
  return found === lines;
}
