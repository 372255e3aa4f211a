import { STATUS_CODES } from "node:http";
import { fieldPairs } from "../../message/field-list.ts";
import { renderReply } from "../../message/local-reply.ts";
import type { HeaderList, RequestHead } from "../../message/message.ts";
import type { FrontEvent, FrontEventReason } from "./events.ts";

/** The statuses in docs/features/http1.md, "Refused requests". */
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

/** Returns the event of a refused request. `durationMs` is the time since the first byte of its head. */
export function refusalEvent(
  reason: RefusalReason,
  head: RequestHead | undefined,
  durationMs: number,
): Omit<FrontEvent, "connection"> {
  const status = refusalStatus[reason];
  const { body } = renderReply({ status }, { head: head?.method === "HEAD", grpc: false });
  const event = { reason, status, durationMs, bytesSent: body.length };
  return head === undefined ? event : { ...event, head };
}

/** Returns fields and body of the answer to a refused request; the connection closes after it. */
export function refusalReply(reason: RefusalReason): { readonly headers: HeaderList; readonly body: string } {
  const { head, body } = renderReply({ status: refusalStatus[reason] }, { head: false, grpc: false });
  return { headers: [...head.headers.toList(), "Connection", "close"], body };
}

/** Returns the answer as one message, for a request without a response object because its head did not parse. */
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

/** The error of Node's parser for a request that it cannot parse. */
export type ParseError = Error & {
  readonly code?: string;
  readonly reason?: string;
  readonly bytesParsed?: number;
  readonly rawPacket?: Buffer;
};

/** Reports whether an error is one of the parser, as opposed to one of the socket. */
export const isParseError = (error: ParseError): boolean => error.code?.startsWith("HPE_") === true;

/** Returns the reason why a head did not parse, from the codes of llhttp. */
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

/** llhttp uses one code for a final coding other than `chunked` and for codings that follow `chunked`. */
const isUnknownCoding = ({ reason }: ParseError): boolean =>
  reason === "Request has invalid `Transfer-Encoding`" ||
  reason === "Invalid `Transfer-Encoding` header value";

const tokenCharacter = /[!#$%&'*+.^_`|~0-9A-Za-z-]/;

/** llhttp also knows the methods of RTSP, and reports this for them. */
const methodOfRtsp = "Invalid method for HTTP/x.x request";

/** Reports whether a method is unknown, not malformed: the first wrong character is allowed in a method, or ends it. */
function isUnknownMethod({ rawPacket, bytesParsed }: ParseError): boolean {
  if (rawPacket === undefined || bytesParsed === undefined) return false;
  const characterAt = (index: number): string => String.fromCharCode(rawPacket[index] ?? 0);
  const wrong = characterAt(bytesParsed);
  return tokenCharacter.test(wrong === " " ? characterAt(bytesParsed - 1) : wrong);
}

/** Matches a method, a space, and a target that has not ended, or the beginning of these. */
const unendedTarget = /^(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+ )?[!-~]*$/;

/**
 * Returns the part of a head that exceeded the bound of the parser, which is twice the limits. The parser does not
 * report the part, and only the last packet is known: field lines are recognised by a line end or by spaces.
 */
const overflowedPart = ({ rawPacket, bytesParsed }: ParseError): RefusalReason =>
  unendedTarget.test(rawPacket?.toString("latin1", 0, bytesParsed) ?? " ")
    ? "uri-too-long"
    : "header-too-large";
