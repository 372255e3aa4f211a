import type { RefusalReason } from "../refusal.ts";
import { connectionOptions } from "../../../message/hop-by-hop.ts";
import { kindsMask } from "../../../message/known-names.ts";
import type { RequestHead } from "../../../message/message.ts";

/** The meaning of the fields of a request for its body and its connection. */
export type RequestSemantics = {
  /** The framing of the body; undefined if the request has none. */
  readonly body: RequestFraming | undefined;
  /** True if the client keeps the connection open after the response (RFC 9112 9.3). */
  readonly keepAlive: boolean;
  /** True if the client may wait for a 100 before it sends the body (RFC 9110 10.1.1). */
  readonly expectsContinue: boolean;
  /** True if the client requests an upgrade of this connection to WebSocket (RFC 6455 4.2.1). */
  readonly asksForWebSocket: boolean;
};

/** The declared length of a body in bytes, or `chunked` (RFC 9112 6). */
export type RequestFraming = number | "chunked";

type Refused = { readonly refusal: RefusalReason };

/** The semantics of nearly all HTTP/1.1 requests. */
const plain: RequestSemantics = {
  body: undefined,
  keepAlive: true,
  expectsContinue: false,
  asksForWebSocket: false,
};

/** The values of the relevant fields, with lines of the same name joined. */
type Said = {
  readonly length: string | undefined;
  readonly coding: string | undefined;
  readonly connection: string | undefined;
  readonly upgrade: string | undefined;
  readonly expect: string | undefined;
};

const telling = kindsMask("contentLength", "transferEncoding", "connection", "upgrade", "expect");

/** Evaluates the fields for framing and connection, or returns why the request is refused (RFC 9112 6 and 9). */
export function readSemantics(head: RequestHead): RequestSemantics | Refused {
  const { headers, version } = head;
  if (!headers.mayHave(telling)) return version === "1.1" ? plain : meaningOf(head, noneSaid);
  if (headers.hasSeveral("content-length")) return { refusal: "malformed" };
  return meaningOf(head, {
    length: headers.first("content-length"),
    coding: headers.joined("transfer-encoding"),
    connection: headers.joined("connection"),
    upgrade: headers.joined("upgrade"),
    expect: headers.joined("expect"),
  });
}

const noneSaid: Said = {
  length: undefined,
  coding: undefined,
  connection: undefined,
  upgrade: undefined,
  expect: undefined,
};

function meaningOf({ version, method }: RequestHead, said: Said): RequestSemantics | Refused {
  const isCurrent = version === "1.1";
  const body = framingOf(said, isCurrent);
  if (typeof body === "object") return body;
  const options = said.connection === undefined ? [] : connectionOptions(said.connection);
  return {
    // A CONNECT has no body (RFC 9110 9.3.6), and nothing is read after it.
    body: method === "CONNECT" ? undefined : body,
    keepAlive: !options.includes("close") && (isCurrent || options.includes("keep-alive")),
    expectsContinue: isCurrent && said.expect !== undefined && continueExpectation.test(said.expect),
    asksForWebSocket:
      isCurrent &&
      method === "GET" &&
      said.upgrade?.toLowerCase() === "websocket" &&
      options.includes("upgrade") &&
      (body === undefined || body === 0),
  };
}

const continueExpectation = /(?:^|\W)100-continue(?:$|\W)/i;

function framingOf({ length, coding }: Said, isCurrent: boolean): RequestFraming | undefined | Refused {
  if (coding !== undefined) {
    if (!isCurrent || length !== undefined || coding === "") return { refusal: "malformed" };
    return coding === "chunked" || coding.toLowerCase() === "chunked"
      ? "chunked"
      : { refusal: "unknown-coding" };
  }
  if (length === undefined) return undefined;
  const bytes = /^[0-9]{1,16}$/.test(length) ? Number(length) : Number.NaN;
  return Number.isSafeInteger(bytes) ? bytes : { refusal: "malformed" };
}
