/**
 * The vocabulary of the data plane. Fronts (HTTP/1, HTTP/2) and upstream clients speak these types, so that either
 * can be replaced without touching routing or filters. See docs/architecture.md, "Exchange is the seam".
 */

import type { HeaderList, ReadonlyHeaderList } from "./field-list.ts";
import type { TunnelEnd } from "../sockets/transport.ts";
import type { Fields } from "./fields.ts";

export type { HeaderList, ReadonlyHeaderList };

/**
 * A piece of a body. A string holds one byte per character (latin1), which lets a small message leave in one write
 * with its head; a Buffer belongs to its receiver.
 */
export type Chunk = Buffer | string;

export type HttpVersion = "1.0" | "1.1" | "2.0";

/** What a front parsed before anything is decided. */
export type RequestHead = {
  readonly version: HttpVersion;
  readonly method: string;
  /** HTTP/1 request-target or HTTP/2 `:path`, as received (origin, absolute or asterisk form). */
  readonly target: string;
  /** HTTP/2 `:authority`, when present. */
  readonly authority: string | undefined;
  /** HTTP/2 `:scheme`, when present. */
  readonly scheme: string | undefined;
  /** All header fields, pseudo-fields left out. */
  readonly headers: Fields;
};

/** Why a request body ended without its end. */
export type BodyAbortReason = "client-closed" | "timeout" | "malformed" | "too-large";

/** Receives a body. `onData` answers false to pause the source until its `resume()`. */
export type BodySink = {
  /** True: `onData` keeps nothing of a piece that is a view of memory that connections share (`isLent`). */
  readonly takesViews?: boolean;
  onData(chunk: Chunk): boolean;
  /** The complete end, with trailers when the message had some. */
  onEnd(trailers: HeaderList | undefined): void;
  /** The body will not be completed; nothing follows. */
  onAbort(reason: BodyAbortReason): void;
};

/**
 * A request body that has not been read yet. Nothing beyond the front's own buffer is read before `start`; after
 * `onData` answered false nothing arrives until `resume`.
 */
export type RequestBody = {
  /** Declared length in bytes; undefined for a chunked or streaming body. */
  readonly length: number | undefined;
  readonly started: boolean;
  /** Called at most once, and once more after each `restart`. Data may arrive synchronously. */
  start(sink: BodySink): void;
  resume(): void;
  /** True while all that was read of the body is kept, so that it can be sent again from its beginning. */
  readonly restartable?: boolean;
  /** Detaches a restartable body from its sink, which is not called again; the next `start` begins with its first byte. */
  restart?(): void;
};

/** What the response looks like before its body. */
export type ResponseHead = {
  status: number;
  /** Hop-by-hop fields are already removed; framing fields (Content-Length) are still there. */
  headers: Fields;
  /** Body length in bytes when known, else undefined. */
  length: number | undefined;
  /** True when no body follows (HEAD, 204, 304): the message is its head. */
  bodyless: boolean;
  /** The whole message has arrived: its data and its end follow in this turn. Absent: they may. */
  isWhole?: boolean;
  /** The route removes Date, so that none is added where it is missing. */
  undated?: true;
};

/** Why the client side ended before the response did. */
export type ClientCloseReason =
  | "client-closed"
  | "timeout"
  | "shutdown"
  /** The response does not fit its head, and was cut. */
  | "broken-response"
  /** The client took too little while the memory of waiting responses was full. */
  | "response-memory";

/**
 * The client's side of one request. Exactly one response is written to it: informational heads, then a head, then
 * data, then `end`; or `abort`. All methods are no-ops after the client has left.
 */
export type ClientStream = {
  /** The request's body; null when the request has none. */
  readonly body: RequestBody | null;
  /**
   * True when `upgrade` can hand the connection over: a WebSocket handshake on HTTP/1.1 (RFC 6455 4.1), or extended CONNECT for
   * one on HTTP/2 (RFC 8441), which arrives as a GET.
   */
  readonly canUpgrade: boolean;
  /**
   * The response has started: bytes of its final head were given to the system. One that was handed over before the end of
   * this turn has not, and can be taken back.
   */
  readonly headSent: boolean;
  /** Body bytes handed over so far. */
  readonly bytesSent: number;

  /**
   * Response bytes handed over that are still held here; at 0 their memory may be written over by the sender.
   * Undefined: unknown.
   */
  readonly pendingBytes?: number | undefined;

  /**
   * True: `write` keeps nothing of the memory that it is given, which may be written over as soon as it has returned. `lent`: so it
   * does with views of memory that connections share (`isLent`), and holds others while `pendingBytes` says so.
   */
  readonly copies?: boolean | "lent";

  /** The most response bytes that the client's side accepts at once while `write` answers true; undefined: unknown. */
  readonly roomBytes?: number | undefined;

  /** A 1xx head (RFC 9110 15.2), never 101. Not relayed to HTTP/1.0 clients. */
  sendInformational(status: number, headers: HeaderList): void;
  /** The final head. It leaves with the first data or end of the same turn, or, unless it is `isWhole`, at the end of the turn. */
  sendHead(head: ResponseHead): void;
  /** Forgets a head, and what came after it, that has not started to leave: another one may be sent in its place. */
  takeBack(): void;
  /** False: stop until `onDrain`. */
  write(chunk: Chunk): boolean;
  end(trailers: HeaderList | undefined): void;
  /** Makes the failure visible to the client: stream reset or connection close, never a clean end. */
  abort(): void;
  /**
   * Closes the connection once this response is complete, because it is in doubt where the next request begins. Does nothing
   * on HTTP/2, where that is never so.
   */
  closeAfterResponse(): void;
  /**
   * Answers 101 with these headers and hands over the raw connection, or 200 and the stream on HTTP/2; undefined when the
   * front cannot. Nothing of it is read before its transport is started.
   */
  upgrade(headers: Fields): TunnelEnd | undefined;

  /** Set by the exchange; called when `write` may go on. */
  onDrain: (() => void) | null;
  /** Set by the exchange; called once when the response starts. */
  onHeadSent: (() => void) | null;
  /** Set by the exchange; called once if the client leaves before the response has ended. */
  onClose: ((reason: ClientCloseReason) => void) | null;
};
