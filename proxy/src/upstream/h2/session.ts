import type { OnReadOpts, Socket } from "node:net";
import { streamWindowBytes } from "../../http2/settings.ts";
import type { Chunk, HeaderList, ReadonlyHeaderList, ResponseHead } from "../../message/message.ts";
import type { IdleConnection } from "../idle-pool.ts";
import type { UpstreamError } from "../upstream-errors.ts";
import type { UpstreamRequest } from "../upstream.ts";

/** The most streams on one session, even if the server allows more: a connection is also a single point of failure. */
export const maxStreamsPerSession = 256;
/**
 * The window of a connection, as much as the windows of all its streams: many clients share a connection, and those that
 * do not read must not stop the others.
 */
export const sessionWindowBytes = maxStreamsPerSession * streamWindowBytes;

/** One HTTP/2 connection to an endpoint. Usable once the server's SETTINGS have arrived. */
export type UpstreamSession = IdleConnection & {
  /** The error of all streams on a connection that ended, was refused or violated the protocol. */
  readonly fault: UpstreamError | undefined;
  /** The most streams that can be open at a time. */
  readonly maxStreams: number;
  /** The number of streams that can still be opened. */
  readonly room: number;
  /** True until the server's SETTINGS have arrived. */
  readonly opening: boolean;
  /** True once the server has proved to speak HTTP/2. */
  readonly opened: boolean;
  readonly idle: boolean;
  /** True once the session has carried a request. */
  readonly reused: boolean;
  /** Sends a request, whose events follow only after this has returned. The caller must have checked `room`. */
  open(request: UpstreamRequest, events: WireEvents): WireStream;
  /** Accepts no new streams; the connection ends after the last one. */
  retire(): void;
  /** Fails all streams and ends the connection. */
  destroy(error: UpstreamError): void;
};

export type SessionEvents = {
  /** The server's SETTINGS arrived, or a stream ended, so that there might be room for a request. */
  onRoom(session: UpstreamSession): void;
  /** The last stream ended. None is opened before the session is taken out of the idle pool. */
  onIdle(session: UpstreamSession): void;
  /** The session accepts no new streams. */
  onUnusable(session: UpstreamSession): void;
};

/** Creates the session of one connection, on `node:http2` or on the codec of this project. */
export type SessionOpener = {
  /** The read option of the socket; absent for its default. */
  readonly onread?: OnReadOpts;
  /** `settingsTimeoutMs` limits the wait for the server's SETTINGS; 0 = no limit. */
  open(socket: Socket, settingsTimeoutMs: number, events: SessionEvents): UpstreamSession;
};

/** One request on a session. */
export type WireStream = {
  /** Whether views of shared memory can be written, because none is kept, see `BodySink`. */
  readonly takesViews: boolean;
  /** Sends a part of the request body. If it returns false, the caller must wait for `onDrain`. */
  write(chunk: Chunk): boolean;
  /** Ends the request. */
  end(trailers: ReadonlyHeaderList | undefined): void;
  /** Continues to read after `onResponseData` has returned false. */
  resume(): void;
  /** Stops sending the request, because the response is complete. */
  stopSending(): void;
  /** Ends the stream with CANCEL; no event follows. */
  cancel(): void;
};

/** Receives the events of a stream; the last call is `onResponseEnd`, `onInvalid` or `onClose`. */
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
  /** Everything that was written of the request has been passed on. */
  onDrain(): void;
  /** The response violates the protocol or a limit. The receiver cancels the stream. */
  onInvalid(text: string): void;
  /** The stream has ended before its response. */
  onClose(end: WireEnd): void;
};

export type WireEnd = {
  /** The session on which the server has not processed the request and never will (RFC 9113 8.7). */
  readonly refusedBy: UpstreamSession | undefined;
  /** Whether the connection was lost, as opposed to a reset of the stream. */
  readonly isLost: boolean;
  readonly error: UpstreamError;
};
