/**
 * The message types of the data plane. Fronts (HTTP/1, HTTP/2) and upstream clients exchange only these types, so that
 * either can be replaced without touching routing or filters. See docs/architecture.md, "Exchange is the seam".
 */

import type { HeaderList, ReadonlyHeaderList } from "./field-list.ts";
import type { TunnelEnd } from "../sockets/transport.ts";
import type { Fields } from "./fields.ts";

export type { HeaderList, ReadonlyHeaderList };

/**
 * A piece of a body. A string holds one byte per character (latin1), so that a small message can be sent in one write
 * with its head. A Buffer belongs to its receiver.
 */
export type Chunk = Buffer | string;

export type HttpVersion = "1.0" | "1.1" | "2.0";

/** The head of a request as a front parsed it, before any decision about it. */
export type RequestHead = {
  readonly version: HttpVersion;
  readonly method: string;
  /** HTTP/1 request-target or HTTP/2 `:path`, as received (origin, absolute or asterisk form). */
  readonly target: string;
  /** HTTP/2 `:authority`, when present. */
  readonly authority: string | undefined;
  /** HTTP/2 `:scheme`, when present. */
  readonly scheme: string | undefined;
  /** All header fields, without pseudo-fields. */
  readonly headers: Fields;
};

/** The reason why a request body was cut short. */
export type BodyAbortReason = "client-closed" | "timeout" | "malformed" | "too-large";

/** Receives a body. `onData` returns false to pause the source until its `resume()`. */
export type BodySink = {
  /** True if `onData` does not keep pieces that are views of memory shared by connections (`isLent`). */
  readonly takesViews?: boolean;
  onData(chunk: Chunk): boolean;
  /** Called at the end of a complete body, with trailers if the message had any. */
  onEnd(trailers: HeaderList | undefined): void;
  /** Called if the body will not be completed; no other call follows. */
  onAbort(reason: BodyAbortReason): void;
};

/**
 * A request body that has not been read yet. Nothing beyond the front's own buffer is read before `start`; after
 * `onData` returned false nothing arrives until `resume`.
 */
export type RequestBody = {
  /** Declared length in bytes; undefined for a chunked or streaming body. */
  readonly length: number | undefined;
  readonly started: boolean;
  /** Called at most once, and once more after each `restart`. Data may arrive synchronously. */
  start(sink: BodySink): void;
  resume(): void;
  /** True while everything read of the body is kept, so that it can be sent again from its beginning. */
  readonly restartable?: boolean;
  /** Detaches a restartable body from its sink, which is not called again; `start` then begins with the first byte. */
  restart?(): void;
};

/** The head of a response: everything before its body. */
export type ResponseHead = {
  status: number;
  /** The fields without hop-by-hop fields, but still with framing fields (Content-Length). */
  headers: Fields;
  /** Body length in bytes when known, else undefined. */
  length: number | undefined;
  /** True when no body follows (HEAD, 204, 304): the message is its head. */
  bodyless: boolean;
  /** True if the whole message has arrived: its data and end follow in this turn. If absent, they may or may not. */
  isWhole?: boolean;
  /** True if the route removes Date, so that none is added. */
  undated?: true;
};

/** The reason why the client side ended before the response did. */
export type ClientCloseReason =
  | "client-closed"
  | "timeout"
  | "shutdown"
  /** The response did not match its head, and was cut. */
  | "broken-response"
  /** The client read too little while the memory for waiting responses was full. */
  | "response-memory";

/**
 * The client's side of one request. Exactly one response is written to it: informational heads, then a head, then
 * data, then `end`; or `abort`. All methods are no-ops after the client has disconnected.
 */
export type ClientStream = {
  /** The request's body; null when the request has none. */
  readonly body: RequestBody | null;
  /**
   * True when `upgrade` can hand the connection over: for a WebSocket handshake on HTTP/1.1 (RFC 6455 4.1), or extended
   * CONNECT for one on HTTP/2 (RFC 8441), which arrives as a GET.
   */
  readonly canUpgrade: boolean;
  /**
   * True once bytes of the final head were passed to the operating system. A head that was handed over in the current
   * turn is still held, and can be taken back.
   */
  readonly headSent: boolean;
  /** Body bytes handed over so far. */
  readonly bytesSent: number;

  /**
   * Response bytes handed over that are still held here. At 0 the sender may overwrite their memory. Undefined if
   * unknown.
   */
  readonly pendingBytes?: number | undefined;

  /**
   * True if `write` keeps no reference to the memory that it is given, which may be overwritten as soon as it has
   * returned. `lent` if that holds only for views of memory shared by connections (`isLent`); other memory is held
   * until `pendingBytes` is 0.
   */
  readonly copies?: boolean | "lent";

  /** The most response bytes that the client's side accepts at once while `write` returns true; undefined: unknown. */
  readonly roomBytes?: number | undefined;

  /** Sends a 1xx head (RFC 9110 15.2), never 101. Not relayed to HTTP/1.0 clients. */
  sendInformational(status: number, headers: HeaderList): void;
  /**
   * Sends the final head. It is written with the first data or the end in the same turn, or else, unless it is
   * `isWhole`, at the end of the turn.
   */
  sendHead(head: ResponseHead): void;
  /** Discards a head that has not been written yet and everything after it, so that another one can be sent. */
  takeBack(): void;
  /** Writes data; returns false if the caller must wait for `onDrain`. */
  write(chunk: Chunk): boolean;
  end(trailers: HeaderList | undefined): void;
  /** Makes the failure visible to the client: stream reset or connection close, never a clean end. */
  abort(): void;
  /**
   * Closes the connection once this response is complete, because it is uncertain where the next request begins. Has no
   * effect on HTTP/2, where that is always certain.
   */
  closeAfterResponse(): void;
  /**
   * Answers 101 with these headers and returns the raw connection, or answers 200 and returns the stream on HTTP/2;
   * undefined if the front cannot upgrade. Nothing is read from it before its transport is started.
   */
  upgrade(headers: Fields): TunnelEnd | undefined;

  /** Set by the exchange; called when `write` may be called again. */
  onDrain: (() => void) | null;
  /** Set by the exchange; called once when the response starts. */
  onHeadSent: (() => void) | null;
  /** Set by the exchange; called once if the client's side ends before the response does. */
  onClose: ((reason: ClientCloseReason) => void) | null;
};
