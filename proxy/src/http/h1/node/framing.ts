import type { FrontLimits } from "../../front.ts";
import type { RefusalReason } from "../refusal.ts";

/** How the body of a request is delimited (RFC 9112 6), or why the request is refused. */
export type RequestFraming =
  | { readonly kind: "none" }
  | { readonly kind: "length"; readonly length: number }
  | { readonly kind: "chunked" }
  | { readonly kind: "refused"; readonly reason: RefusalReason };

const noBody: RequestFraming = { kind: "none" };
const chunkedBody: RequestFraming = { kind: "chunked" };
const refused = (reason: RefusalReason): RequestFraming => ({ kind: "refused", reason });

/**
 * Checks the parts of a head that Node's parser accepts too freely, and reads the framing. The parser has already
 * refused repeated, list-valued, signed or overlong Content-Length fields, Content-Length together with
 * Transfer-Encoding, folded lines, bare CR or LF, a space before the colon, and control characters
 * (docs/features/http1.md, "Refused requests").
 */
export function readFraming(
  version: string,
  target: string,
  headers: readonly string[],
  limits: FrontLimits,
): RequestFraming {
  if (version !== "1.1" && version !== "1.0") return refused("unknown-version");
  if (limits.maxUriBytes > 0 && target.length > limits.maxUriBytes) return refused("uri-too-long");
  if (limits.maxHeaders > 0 && headers.length > 2 * limits.maxHeaders) return refused("too-many-headers");
  let bytes = 0;
  let length: string | undefined;
  let coding: string | undefined;
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string;
    const value = headers[i + 1] as string;
    bytes += name.length + value.length + fieldSyntaxBytes;
    if (name.length === 14 && name.toLowerCase() === "content-length") {
      if (length !== undefined) return refused("malformed");
      length = value;
    } else if (name.length === 17 && name.toLowerCase() === "transfer-encoding") {
      coding = coding === undefined ? value : `${coding}, ${value}`;
    }
  }
  if (limits.maxHeaderBytes > 0 && bytes > limits.maxHeaderBytes) return refused("header-too-large");
  if (coding !== undefined) return codingFraming(version, coding, length);
  return length === undefined ? noBody : lengthFraming(length);
}

/** Colon, space and CRLF of a field line. */
const fieldSyntaxBytes = 4;

function codingFraming(version: string, coding: string, length: string | undefined): RequestFraming {
  if (version === "1.0" || length !== undefined) return refused("malformed");
  return coding.toLowerCase() === "chunked" ? chunkedBody : refused("unknown-coding");
}

function lengthFraming(text: string): RequestFraming {
  const length = Number(text);
  if (!/^\d{1,16}$/.test(text) || !Number.isSafeInteger(length)) return refused("malformed");
  return { kind: "length", length };
}
