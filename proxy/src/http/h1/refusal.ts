import { STATUS_CODES } from "node:http";
import { fieldPairs } from "../../message/field-list.ts";
import { renderReply } from "../../message/local-reply.ts";
import type { HeaderList } from "../../message/message.ts";
import type { FrontEventReason } from "./events.ts";

/** Statuses of docs/features/http1.md, "Refused requests". */
export const refusalStatus = {
  malformed: 400,
  "uri-too-long": 414,
  "header-too-large": 431,
  "too-many-headers": 431,
  "unknown-coding": 501,
  "unknown-method": 501,
  "unknown-version": 505,
  "header-timeout": 408,
  "malformed-body": 400,
} as const satisfies { readonly [R in FrontEventReason]?: number };

/** The reasons for which a client gets an error response. */
export type RefusalReason = keyof typeof refusalStatus;

/** Head and body of the answer to a refused request; the connection closes after it. */
export function refusalReply(reason: RefusalReason): { readonly headers: HeaderList; readonly body: string } {
  const { head, body } = renderReply({ status: refusalStatus[reason] }, { head: false, grpc: false });
  return { headers: [...head.headers.toList(), "Connection", "close"], body };
}

/** The same as one message, for when the request has no response object because its head did not parse. */
export function refusalMessage(reason: RefusalReason, now: Date): string {
  const status = refusalStatus[reason];
  const { headers, body } = refusalReply(reason);
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`,
    `Date: ${now.toUTCString()}`,
    ...fieldPairs(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  return `${lines.join("\r\n")}\r\n\r\n${body}`;
}

/** What Node's parser says about a request that it gives up on. */
export type ParseError = Error & {
  readonly code?: string;
  readonly reason?: string;
  readonly bytesParsed?: number;
  readonly rawPacket?: Buffer;
};

/** True for errors of the parser, as opposed to those of the socket. */
export const isParseError = (error: ParseError): boolean => error.code?.startsWith("HPE_") === true;

/** Why a head did not parse (codes of llhttp). */
export function refusalOf(error: ParseError): RefusalReason {
  switch (error.code) {
    case "HPE_HEADER_OVERFLOW":
      return overflowedPart(error);
    case "HPE_INVALID_VERSION":
      return error.reason === "Invalid HTTP version" ? "unknown-version" : "malformed";
    case "HPE_INVALID_CONSTANT":
      return error.reason === methodOfRtsp ? "unknown-method" : "malformed";
    case "HPE_INVALID_METHOD":
      return isUnknownMethod(error) ? "unknown-method" : "malformed";
    case "HPE_INVALID_TRANSFER_ENCODING":
      return isUnknownCoding(error) ? "unknown-coding" : "malformed";
    case "HPE_PAUSED_H2_UPGRADE":
      return "unknown-version";
    default:
      return "malformed";
  }
}

/** llhttp refuses every final coding but `chunked`, and everything that follows `chunked`, under one code. */
const isUnknownCoding = ({ reason }: ParseError): boolean =>
  reason === "Request has invalid `Transfer-Encoding`" ||
  reason === "Invalid `Transfer-Encoding` header value";

const tokenCharacter = /[!#$%&'*+.^_`|~0-9A-Za-z-]/;

/** llhttp knows the methods of RTSP, too. */
const methodOfRtsp = "Invalid method for HTTP/x.x request";

/** True when the method is unknown rather than malformed: the first wrong character may be part of one, or ends it. */
function isUnknownMethod({ rawPacket, bytesParsed }: ParseError): boolean {
  if (rawPacket === undefined || bytesParsed === undefined) return false;
  const characterAt = (index: number): string => String.fromCharCode(rawPacket[index] ?? 0);
  const wrong = characterAt(bytesParsed);
  return tokenCharacter.test(wrong === " " ? characterAt(bytesParsed - 1) : wrong);
}

/** At most a method, a space, and a target that has not ended. */
const unendedTarget = /^(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+ )?[!-~]*$/;

/**
 * The parser's own bound, twice the limits, is over, and it does not say in which part. Only the last packet is known:
 * field lines show a line end, or spaces.
 */
const overflowedPart = ({ rawPacket, bytesParsed }: ParseError): RefusalReason =>
  unendedTarget.test(rawPacket?.toString("latin1", 0, bytesParsed) ?? " ")
    ? "uri-too-long"
    : "header-too-large";
