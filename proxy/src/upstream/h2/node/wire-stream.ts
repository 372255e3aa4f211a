import type { ClientHttp2Stream } from "node:http2";
import { resetStream } from "../../../http/h2/node/reset-stream.ts";
import { fieldObject } from "../../../http2/fields.ts";
import { errorCode, frameFlag } from "../../../http2/frames/frame-types.ts";
import type { Chunk, HeaderList, ReadonlyHeaderList } from "../../../message/message.ts";
import { ignore } from "../../../sockets/ignore.ts";
import type { UpstreamError } from "../../upstream-errors.ts";
import type { UpstreamRequest } from "../../upstream.ts";
import type { UpstreamSession, WireEvents, WireStream } from "../session.ts";
import { closedError, refusedError, resetError } from "../stream-errors.ts";
import { readResponseHead } from "./response-head.ts";

/** A session as seen by its streams. */
export type StreamSession = UpstreamSession & {
  readonly isLost: boolean;
  /** Marks a stream as cancelled by this side. */
  abandon(stream: ClientHttp2Stream): void;
  /**
   * Records that a stream has closed. Returns true if the server has not processed it and never will (RFC 9113 8.7).
   */
  release(stream: ClientHttp2Stream): boolean;
};

/** A request on a session of `node:http2`. */
export class NodeWireStream implements WireStream {
  private readonly stream: ClientHttp2Stream;
  private readonly method: string;
  private readonly session: StreamSession;
  private readonly events: WireEvents;
  /** Whether END_STREAM of the response was received, so that its end is not a reset. */
  private complete = false;
  private isOver = false;
  private trailers: HeaderList | undefined = undefined;
  private requestTrailers: ReadonlyHeaderList | undefined = undefined;

  constructor(
    stream: ClientHttp2Stream,
    request: UpstreamRequest,
    session: StreamSession,
    events: WireEvents,
  ) {
    this.stream = stream;
    this.method = request.method;
    this.session = session;
    this.events = events;
    this.watchEnd();
    // Every failure also closes the stream, and is handled there.
    stream.on("error", ignore);
    stream.on("headers", (_headers, _flags, raw) => this.onInformational(raw as HeaderList));
    stream.on("response", (_headers, flags, raw) => this.onResponse(flags, raw as HeaderList));
    stream.on("close", () => this.onClose());
    if (request.body === null) return;
    stream.on("wantTrailers", () => this.sendTrailers());
    stream.on("drain", () => events.onDrain());
  }

  readonly takesViews = false;

  write(chunk: Chunk): boolean {
    return !this.stream.closed && this.stream.write(chunk, "latin1");
  }

  end(trailers: ReadonlyHeaderList | undefined): void {
    this.requestTrailers = trailers;
    this.stream.end();
  }

  resume(): void {
    this.stream.resume();
  }

  /**
   * Resets the stream after this turn. While Node reads from the session, it would send END_STREAM before the reset,
   * and an incomplete body would look complete.
   */
  stopSending(): void {
    if (!this.stream.writableFinished) setImmediate(() => this.reset());
  }

  cancel(): void {
    this.isOver = true;
    this.reset();
  }

  private reset(): void {
    resetStream(this.stream, errorCode.cancel);
    this.session.abandon(this.stream);
  }

  /**
   * Records whether the readable side ended by END_STREAM or by the end of the stream. A reset with NO_ERROR causes the
   * same events, but when the stream is already closed.
   */
  private watchEnd(): void {
    const { stream } = this;
    const push = stream.push.bind(stream);
    stream.push = (chunk: unknown, encoding?: BufferEncoding) => {
      if (chunk === null && !stream.closed) this.complete = true;
      return push(chunk, encoding);
    };
  }

  private sendTrailers(): void {
    const { stream, requestTrailers } = this;
    if (stream.destroyed || stream.closed) return;
    stream.sendTrailers(requestTrailers === undefined ? {} : fieldObject(requestTrailers));
  }

  private onInformational(raw: HeaderList): void {
    if (this.isOver) return;
    const head = readResponseHead(raw, this.method);
    if (!head.ok) return this.events.onInvalid(head.error);
    this.events.onInformational(head.value.status, [...head.value.headers.toList()]);
  }

  private onResponse(flags: number, raw: HeaderList): void {
    if (this.isOver) return;
    const { stream, events } = this;
    const head = readResponseHead(raw, this.method);
    if (!head.ok) return events.onInvalid(head.error);
    if (head.value.status < 200) return events.onInvalid("1xx response without a final one");
    if ((flags & frameFlag.endStream) !== 0 && !head.value.bodyless) head.value.length ??= 0;
    stream.on("trailers", (_headers, _flags, list) => {
      this.trailers = list as HeaderList;
    });
    stream.on("data", (chunk: Buffer) => {
      if (!this.isOver && !events.onResponseData(chunk)) stream.pause();
    });
    stream.on("end", () => this.onEnd());
    events.onHead(head.value);
  }

  private onEnd(): void {
    if (this.isOver || !this.complete) return;
    this.isOver = true;
    this.events.onResponseEnd(this.trailers);
  }

  private onClose(): void {
    const { session } = this;
    const refused = session.release(this.stream);
    if (this.isOver) return;
    this.isOver = true;
    this.events.onClose({
      refusedBy: refused ? session : undefined,
      isLost: session.isLost,
      error: this.closeError(refused),
    });
  }

  private closeError(refused: boolean): UpstreamError {
    if (refused) return refusedError;
    const { fault, isLost } = this.session;
    if (fault !== undefined) return fault;
    return isLost ? closedError : resetError(this.stream.rstCode);
  }
}
