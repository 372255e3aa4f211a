import { Fields } from "../../message/fields.ts";
import type { HeaderList, RequestHead } from "../../message/message.ts";
import { fieldOverheadBytes } from "../../http2/field-tags.ts";
import type { FrontLimits } from "../front.ts";
import { isGrpc } from "../request-fields.ts";

/** A request head, and the facts about it that the front needs. */
export type ReceivedHead = {
  readonly head: RequestHead;
  /** Value of Content-Length in bytes; the codec has refused anything but a single number of at most 63 bits. */
  readonly contentLength: number | undefined;
  readonly grpc: boolean;
  /** Size of the header list as RFC 9113 6.5.2 counts it: names, values and 32 bytes per field. */
  readonly listBytes: number;
  /** Set if the request exceeds a limit, or its length is not a safe integer. */
  readonly refusal: HeadRefusal | undefined;
};

export type HeadRefusal = "malformed" | "uri-too-long" | "header-too-large" | "too-many-headers";

export type HeadLimits = Pick<FrontLimits, "maxUriBytes" | "maxHeaderBytes" | "maxHeaders">;

/** Returns the first limit that a request exceeds; `malformed` for a length that is not a safe integer. */
export function refusalOf(
  limits: HeadLimits,
  head: {
    readonly target: string;
    readonly contentLength: number | undefined;
    readonly listBytes: number;
    readonly fields: number;
  },
): HeadRefusal | undefined {
  const { target, contentLength, listBytes, fields } = head;
  if (contentLength !== undefined && !Number.isSafeInteger(contentLength)) return "malformed";
  if (target.length > limits.maxUriBytes) return "uri-too-long";
  if (listBytes > limits.maxHeaderBytes) return "header-too-large";
  return fields > limits.maxHeaders ? "too-many-headers" : undefined;
}

/**
 * Parses the flat field list of a request. Pseudo-fields become members of the head, and the pieces of a split Cookie
 * are joined into one field (RFC 9113 8.2.3). nghttp2 has checked order, names and presence of pseudo-fields.
 */
export function readRequestHead(raw: readonly string[], limits: HeadLimits): ReceivedHead {
  const headers: HeaderList = [];
  let method = "";
  let path: string | undefined;
  let authority: string | undefined;
  let scheme: string | undefined;
  let contentLength: number | undefined;
  let grpc = false;
  let cookieAt = -1;
  let listBytes = 0;
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] as string;
    const value = raw[i + 1] as string;
    listBytes += name.length + value.length + fieldOverheadBytes;
    switch (name) {
      case ":method":
        method = value;
        continue;
      case ":path":
        path = value;
        continue;
      case ":authority":
        authority = value;
        continue;
      case ":scheme":
        scheme = value;
        continue;
      case "cookie":
        if (cookieAt >= 0) {
          headers[cookieAt] = `${headers[cookieAt] as string}; ${value}`;
          continue;
        }
        cookieAt = headers.length + 1;
        break;
      case "content-length":
        contentLength = Number(value);
        break;
      case "content-type":
        grpc = isGrpc(value);
        break;
    }
    headers.push(name, value);
  }
  const target = path ?? authority ?? "";
  return {
    head: { version: "2.0", method, target, authority, scheme, headers: Fields.of(headers) },
    contentLength,
    grpc,
    listBytes,
    refusal: refusalOf(limits, { target, contentLength, listBytes, fields: headers.length / 2 }),
  };
}
