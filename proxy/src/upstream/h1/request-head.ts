import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import { type CheckedFields, LineCopier } from "../../message/checked-fields.ts";
import type { ReadonlyHeaderList } from "../../message/message.ts";
import type { UpstreamRequest } from "../upstream.ts";
import { isFieldName, isFieldValue } from "./field-lines.ts";

/** Methods whose requests without a body have Content-Length: 0 (RFC 9110 8.6). */
const methodsWithBody = new Set(["POST", "PUT", "PATCH"]);

/** Characters that would end the method or the target of a request line early, or be truncated by latin1. */
const foreignToStart = /[^\x21-\x7e\x80-\xff]/;

const isStartPart = (text: string): boolean => text !== "" && !foreignToStart.test(text);

/**
 * Renders the head of a request as latin1 text. This is the one place that guards the wire: a method, target or field
 * that could end its line early is rejected, from any source.
 */
export function renderRequestHead(request: UpstreamRequest): Result<string, "invalid request head"> {
  const { method, target, authority, upgrade } = request;
  const fields = renderFields(request.headers, request.checked);
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
    if (methodsWithBody.has(method)) text += "Content-Length: 0\r\n";
  } else {
    text +=
      request.body.length === undefined
        ? "Transfer-Encoding: chunked\r\n"
        : `Content-Length: ${request.body.length}\r\n`;
  }
  return ok(`${text}\r\n`);
}

/** Renders the end of a chunked body with its trailers; trailers that are not well formed are left out. */
export function renderLastChunk(trailers: ReadonlyHeaderList | undefined): string {
  const fields = trailers === undefined ? "" : renderFields(trailers, undefined);
  return `0\r\n${fields ?? ""}\r\n`;
}

/**
 * Fields as lines; undefined when one of them is malformed. Those that a codec of the proxy has read are copied in runs.
 * Each other field is checked by itself, while it is a short string: checking the whole head would flatten it twice.
 */
function renderFields(headers: ReadonlyHeaderList, checked: CheckedFields | undefined): string | undefined {
  const lines = new LineCopier(checked);
  let text = "";
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string;
    const value = headers[i + 1] as string;
    // A hop-by-hop field that is sent only to HTTP/2 upstreams (RFC 9110 10.1.4).
    if (name.length === 2 && name.toLowerCase() === "te") continue;
    if (lines.continues(name, value)) continue;
    text += lines.take();
    if (lines.begins(name, value)) continue;
    if (!isFieldName(name) || !isFieldValue(value)) return undefined;
    text += name;
    text += ": ";
    text += value;
    text += "\r\n";
  }
  return text + lines.take();
}
