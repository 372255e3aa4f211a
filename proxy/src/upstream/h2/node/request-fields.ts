import { appendFields } from "../../../http2/fields.ts";
import type { ReadonlyHeaderList } from "../../../message/message.ts";
import type { UpstreamRequest } from "../../upstream.ts";

/** Returns the flat field list of a request, in the form that Node accepts. */
export function requestFields(request: UpstreamRequest): string[] {
  const fields = [":method", request.method, ":scheme", request.scheme];
  if (request.authority !== "") fields.push(":authority", request.authority);
  fields.push(":path", request.target);
  appendFields(fields, withoutHost(request.headers.toList()));
  const length = request.body?.length;
  if (length !== undefined) fields.push("content-length", String(length));
  if (request.expectContinue) fields.push("expect", "100-continue");
  return fields;
}

/** Removes Host, which `:authority` replaces (RFC 9113 8.3.1). */
function withoutHost(headers: ReadonlyHeaderList): ReadonlyHeaderList {
  if (headers[0]?.toLowerCase() !== "host") return headers;
  return headers.slice(2);
}
