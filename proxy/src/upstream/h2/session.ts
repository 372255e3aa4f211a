import type { OnReadOpts, Socket } from "node:net";
import type { Chunk, HeaderList, ReadonlyHeaderList, ResponseHead } from "../../message/message.ts";
import type { IdleConnection } from "../idle-pool.ts";
import type { UpstreamError } from "../upstream-errors.ts";
import type { UpstreamRequest } from "../upstream.ts";

/** Streams that one session carries even if the server allows more: a connection is also a single point of failure. */
export const maxStreamsPerSession = 256;

/** One HTTP/2 connection to an endpoint. Usable once the server's SETTINGS have arrived. */
export type UpstreamSession = IdleConnection & {
  /** The connection ended, was refused or broke the protocol: what that means for the streams on it. */
  readonly fault: UpstreamError | undefined;
  /** Streams that may be open at a time. */
  readonly maxStreams: number;
  /** Streams that may still be opened. */
  readonly room: number;
  /** True until the server's SETTINGS have arrived. */
  readonly opening: boolean;
  /** True once the server has proved to speak HTTP/2. */
  readonly opened: boolean;
  readonly idle: boolean;
  /** True once the session has carried a request. */
  readonly reused: boolean;
  /** Sends a request, which calls back later than this returns. The caller has checked `room`. */
  open(request: UpstreamRequest, events: WireEvents): WireStream;
  /** Takes no new streams; the connection ends with the last one. */
  retire(): void;
  /** Fails all streams and ends the connection. */
  destroy(error: UpstreamError): void;
};

export type SessionEvents = {
  /** The server's SETTINGS arrived, or a stream ended: there may be room for a request. */
  onRoom(session: UpstreamSession): void;
  /** No stream is left, and none will be opened unless it is taken out of the idle pool. */
  onIdle(session: UpstreamSession): void;
  /** The session takes no new streams. */
  onUnusable(session: UpstreamSession): void;
};

/** What makes sessions of connections: `node:http2`, or the codec of this project. One for each connection. */
export type SessionOpener = {
  /** How the socket is to read; absent: as it likes. */
  readonly onread?: OnReadOpts;
  /** `settingsTimeoutMs` limits the wait for the server's SETTINGS; 0: none. */
  open(socket: Socket, settingsTimeoutMs: number, events: SessionEvents): UpstreamSession;
};

/** One request on a session. */
export type WireStream = {
  /** Nothing of a view that is written is kept, see `BodySink`. */
  readonly takesViews: boolean;
  /** A part of the request body. False: nothing more until `onDrain`. */
  write(chunk: Chunk): boolean;
  /** The request is complete. */
  end(trailers: ReadonlyHeaderList | undefined): void;
  /** Reads on after `onResponseData` has answered false. */
  resume(): void;
  /** The response is complete: what is left of the request is not sent. */
  stopSending(): void;
  /** Ends the stream with CANCEL; nothing is called any more. */
  cancel(): void;
};

/** Receives what happens on a stream; the last call is `onResponseEnd`, `onInvalid` or `onClose`. */
export type WireEvents = {
  /** A 1xx head. */
  onInformational(status: number, headers: HeaderList): void;
  onHead(head: ResponseHead): void;
  /** False pauses the response until `resume`. */
  onResponseData(chunk: Chunk): boolean;
  /** See `UpstreamHandler`. */
  readonly pendingBytes?: number | undefined;
  readonly copies: boolean;
  onResponseEnd(trailers: HeaderList | undefined): void;
  /** All that was written of the request has left. */
  onDrain(): void;
  /** The response breaks the protocol or a limit. The receiver cancels the stream. */
  onInvalid(text: string): void;
  /** The stream has ended before its response. */
  onClose(end: WireEnd): void;
};

export type WireEnd = {
  /** The session on which the server has not processed the request and never will (RFC 9113 8.7). */
  readonly refusedBy: UpstreamSession | undefined;
  /** The connection was cut, as opposed to the stream being reset. */
  readonly isLost: boolean;
  readonly error: UpstreamError;
};
