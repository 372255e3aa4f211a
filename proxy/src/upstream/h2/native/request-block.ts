import { encodedField, encodedName, putName, putValue } from "../../../http2/hpack/encoder.ts";
import { maxHeadBytes, putHeadFields } from "../../../http2/hpack/field-block.ts";
import { kindsMask } from "../../../message/known-names.ts";
import { memoByName } from "../../../message/name-memo.ts";
import type { UpstreamRequest } from "../../upstream.ts";

/** Room for the pseudo-fields, Content-Length and Expect of a head, without the texts of the request. */
const ownBytes = 160;

const host = kindsMask("host");
const methods = memoByName((method) => encodedField(":method", method));
const schemes = { http: encodedField(":scheme", "http"), https: encodedField(":scheme", "https") };
const authority = encodedName(":authority");
const path = encodedName(":path");
const rootPath = encodedField(":path", "/");
const contentLength = encodedName("content-length");
const expectContinue = encodedField("expect", "100-continue");

/** Matches characters that no pseudo-field may have: controls, spaces, and those that do not fit into an octet. */
// oxlint-disable-next-line no-control-regex
const unsafe = /[\0- \x7f\u0100-\uffff]/;
const token = /^[!#$%&'*+\-.^_`|~0-9a-zA-Z]+$/;

/**
 * Reports whether a request can be sent. Invalid fields are omitted, but the parts that are checked here are required.
 */
export const isSendable = ({ method, target, authority: hostPort }: UpstreamRequest): boolean =>
  target !== "" && !unsafe.test(target) && !unsafe.test(hostPort) && token.test(method);

/** Returns the most octets that the block of a request can have. */
export const maxRequestBytes = ({ method, target, authority: hostPort, headers }: UpstreamRequest): number =>
  ownBytes + maxHeadBytes(headers) + method.length + target.length + hostPort.length;

/** Writes the block of a sendable request; returns the index after it. `:authority` replaces Host (RFC 9113 8.3.1). */
export function putRequestHead(into: Buffer, at: number, request: UpstreamRequest): number {
  const { headers, target } = request;
  let next = putName(into, at, methods(request.method));
  next = putName(into, next, schemes[request.scheme]);
  if (request.authority !== "") next = putValue(into, putName(into, next, authority), request.authority);
  if (target === "/") next = putName(into, next, rootPath);
  else next = putValue(into, putName(into, next, path), target);
  next = putHeadFields(into, next, headers.has("host") ? headers.withoutKinds(host) : headers);
  const length = request.body?.length;
  if (length !== undefined) next = putValue(into, putName(into, next, contentLength), String(length));
  return request.expectContinue ? putName(into, next, expectContinue) : next;
}
