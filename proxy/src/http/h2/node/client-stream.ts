import type { ServerHttp2Stream, ServerStreamResponseOptions } from "node:http2";
import { appendFields, fieldObject } from "../../../http2/fields.ts";
import { errorCode } from "../../../http2/frames/frame-types.ts";
import type {
  Chunk,
  ClientCloseReason,
  ClientStream,
  HeaderList,
  ReadonlyHeaderList,
  ResponseHead,
} from "../../../message/message.ts";
import { ignore } from "../../../sockets/ignore.ts";
import type { ReadingPace } from "../../reading-pace.ts";
import {
  type ResponseMemory,
  type StoppableReader,
  type WaitingClient,
  WaitingResponse,
} from "../../response-memory.ts";
import { roomBytes } from "../../response-room.ts";
import { type ExceededLimit, type StreamLimits, type SweptStream, sweepStream } from "../sweep-stream.ts";
import type { FloodGuard } from "./flood-guard.ts";
import type { Http2RequestBody } from "./request-body.ts";
import { resetStream } from "./reset-stream.ts";

/** How a stream was closed. */
type StreamEnd = {
  /** True if the client, or the proxy for a fault of the client, closed it before the response was complete. */
  readonly early: boolean;
  /** True if the request violates RFC 9113. */
  readonly malformed: boolean;
};

/** The connection of a stream, as far as the stream depends on it. */
export type StreamHost = {
  readonly guard: FloodGuard;
  readonly memory: ResponseMemory;
  /** Schedules a call of `flushHead` at the end of this turn. */
  deferHead(stream: Http2ClientStream): void;
  /** Distributes the bytes of incomplete chunks that were sent since the last call among the waiting streams. */
  creditPartlyTaken(): void;
  onStreamClosed(stream: Http2ClientStream, end: StreamEnd): void;
};

/**
 * The client's side of one HTTP/2 request. The head waits for the first data or the end of the same turn, so that a
 * complete message is sent as HEADERS and one final DATA, or as HEADERS alone (gRPC's trailers-only form).
 */
export class Http2ClientStream implements ClientStream, WaitingClient, StoppableReader, SweptStream {
  readonly body: Http2RequestBody | null;
  readonly canUpgrade = false;
  headSent = false;
  onHeadSent: (() => void) | null = null;
  bytesSent = 0;
  onDrain: (() => void) | null = null;
  onClose: ((reason: ClientCloseReason) => void) | null = null;
  readonly grpc: boolean;
  private readonly stream: ServerHttp2Stream;
  private readonly host: StreamHost;
  /** True once a final head was handed over; `head` holds it until it is passed to Node. */
  private headTaken = false;
  private head: ResponseHead | undefined = undefined;
  private firstChunk: Chunk | undefined = undefined;
  private trailers: ReadonlyHeaderList | undefined = undefined;
  private bodyless = false;
  /** Declared length of the content; undefined if unknown or without content. */
  private length: number | undefined = undefined;
  private takesTrailers = false;
  private awaitsDrain = false;
  private ended = false;
  private isClosed = false;
  private closeReason: ClientCloseReason = "client-closed";
  pace: ReadingPace | undefined = undefined;
  private waiting: WaitingResponse | undefined = undefined;
  awaitsRoom = false;
  /** The estimated bytes that were sent of chunks that are not completely sent yet. */
  private partlyTakenBytes = 0;
  /** `completedBytes` at the last sweep. */
  private sweptBytes = 0;

  constructor(
    stream: ServerHttp2Stream,
    host: StreamHost,
    request: { readonly body: Http2RequestBody | null; readonly grpc: boolean },
  ) {
    this.stream = stream;
    this.host = host;
    this.body = request.body;
    this.grpc = request.grpc;
    // Every failure also closes the stream, and is handled there.
    stream.on("error", ignore);
    stream.on("close", () => this.onStreamClose());
  }

  sendInformational(status: number, headers: HeaderList): void {
    if (this.isClosed || this.headTaken || this.stream.closed) return;
    this.stream.additionalHeaders({ ":status": status, ...fieldObject(headers) });
  }

  sendHead(head: ResponseHead): void {
    if (this.isClosed || this.headTaken) return;
    this.headTaken = true;
    this.bodyless = head.bodyless || head.status === resetContent;
    this.length = this.bodyless ? undefined : head.length;
    this.head = head;
    this.host.deferHead(this);
  }

  takeBack(): void {
    if (this.isClosed || this.head === undefined) return;
    this.headTaken = false;
    this.head = undefined;
    this.firstChunk = undefined;
    this.bytesSent = 0;
  }

  write(chunk: Chunk): boolean {
    if (this.isClosed || this.ended || this.bodyless || chunk.length === 0) return true;
    this.bytesSent += chunk.length;
    if (this.length !== undefined && this.bytesSent > this.length) {
      this.breakOff();
      return true;
    }
    this.host.guard.countSent(chunk.length);
    if (this.head !== undefined) {
      if (this.firstChunk === undefined && chunk.length < minCountedBytes) {
        this.firstChunk = chunk;
        return true;
      }
      this.flushHead();
      if (this.isClosed) return true;
    }
    return this.push(chunk);
  }

  get roomBytes(): number {
    return roomBytes(this.heldBytes);
  }

  end(trailers: HeaderList | undefined): void {
    if (this.isClosed || this.ended) return;
    if (this.length !== undefined && this.bytesSent < this.length) return this.breakOff();
    this.ended = true;
    const { head, firstChunk } = this;
    this.trailers = trailers;
    if (head === undefined) {
      this.stream.end();
      if (!this.takesTrailers) this.releaseWhenFinished();
    } else {
      this.head = undefined;
      this.firstChunk = undefined;
      const whole = trailers === undefined || this.bodyless;
      if (!this.respond(head, whole, whole && firstChunk === undefined)) return;
      if (firstChunk !== undefined) this.stream.end(firstChunk, "latin1");
      else if (!whole) this.stream.end();
      if (whole) this.releaseWhenFinished();
    }
  }

  abort(): void {
    this.reset(errorCode.internalError);
  }

  /** Aborts a response that does not match its head, so that the client sees the failure. */
  private breakOff(): void {
    this.closeReason = "broken-response";
    this.abort();
  }

  closeAfterResponse(): void {}

  upgrade(): undefined {
    return undefined;
  }

  /** Passes the head to Node if it still waits; called at the end of the turn. */
  flushHead(): void {
    const { head, firstChunk } = this;
    if (head === undefined || this.isClosed) return;
    this.head = undefined;
    this.firstChunk = undefined;
    // Trailers cost an extra frame, so they are expected only after content of unknown length and for gRPC statuses.
    const whole = this.bodyless || (head.length !== undefined && !this.grpc);
    if (this.respond(head, whole, this.bodyless) && firstChunk !== undefined) this.push(firstChunk);
  }

  /** Resets the stream for a reason of the proxy, which is reported to the exchange. */
  cut(reason: ClientCloseReason = "response-memory"): void {
    this.closeReason = reason;
    this.reset(errorCode.cancel);
  }

  /** True until the response has been handed over completely. */
  get open(): boolean {
    return !this.ended && !this.isClosed;
  }

  /** Ends the body or the stream if it exceeded a limit, and returns which one. */
  sweep(nowMs: number, limits: StreamLimits): ExceededLimit | undefined {
    return this.isClosed ? undefined : sweepStream(this, nowMs, limits);
  }

  /** Bytes of content that were handed over and not sent yet. */
  get heldBytes(): number {
    return this.isClosed ? 0 : this.stream.writableLength + (this.firstChunk?.length ?? 0);
  }

  /** Returns the bytes of chunks that were completely sent since the last call. */
  newlyCompletedBytes(): number {
    const bytes = this.completedBytes - this.sweptBytes;
    this.sweptBytes += bytes;
    return bytes;
  }

  /** Adds `bytes` to those sent of a chunk that is not completely sent yet. */
  countPartly(bytes: number): void {
    this.partlyTakenBytes += bytes;
  }

  /** Called by the response memory; updates the counts of this stream. */
  look(): void {
    this.host.creditPartlyTaken();
    this.countWaiting();
  }

  countWaiting(): void {
    const { heldBytes } = this;
    if (heldBytes > 0) this.waiting ??= new WaitingResponse(this.host.memory, this);
    this.waiting?.hold(heldBytes, this.progressBytes);
  }

  private get completedBytes(): number {
    return this.bytesSent - this.heldBytes;
  }

  get progressBytes(): number {
    return this.completedBytes + this.partlyTakenBytes;
  }

  private push(chunk: Chunk): boolean {
    const more = this.stream.write(chunk, "latin1");
    if (this.stream.writableLength >= minCountedBytes) this.countWaiting();
    if (!more && !this.awaitsDrain) {
      this.awaitsDrain = true;
      this.stream.on("drain", () => this.drained());
    }
    return more && this.host.memory.admit(this);
  }

  private drained(): void {
    this.countWaiting();
    if (this.host.memory.admit(this)) this.onDrain?.();
  }

  onRoom(): void {
    this.onDrain?.();
  }

  /**
   * Passes the head to Node. `whole` means that no trailers follow, so that the last DATA ends the stream; otherwise
   * Node requests trailers after the data. Returns false if the stream was closed meanwhile.
   */
  private respond(head: ResponseHead, whole: boolean, endStream: boolean): boolean {
    const { stream } = this;
    if (stream.destroyed || stream.closed) return false;
    const fields: string[] = [":status", String(head.status)];
    if (head.status === resetContent) head.headers.remove(contentLength);
    appendFields(fields, head.headers.toList());
    this.takesTrailers = !whole;
    if (!whole) stream.on("wantTrailers", () => this.sendTrailers());
    const options = whole ? (endStream ? endOfStream : undefined) : trailersFollow;
    stream.respond(fields, head.undated === true ? withoutDate(options) : options);
    this.headSent = true;
    this.onHeadSent?.();
    return true;
  }

  private sendTrailers(): void {
    const { stream } = this;
    if (stream.destroyed || stream.closed) return;
    stream.sendTrailers(this.trailers === undefined ? {} : fieldObject(this.trailers));
    if (this.body?.complete === false) setImmediate(() => this.releaseRequest());
  }

  private releaseWhenFinished(): void {
    if (this.body === null || this.body.complete) return;
    if (this.stream.writableFinished) this.releaseRequest();
    else this.stream.once("finish", () => this.releaseRequest());
  }

  /** Gives up the rest of a request whose response is already complete (RFC 9113 8.1). */
  private releaseRequest(): void {
    if (this.isClosed || this.body?.complete === true) return;
    this.body?.abort("client-closed");
    setImmediate(() => this.stream.close(errorCode.noError));
  }

  private reset(code: number): void {
    if (this.isClosed) return;
    this.head = undefined;
    this.firstChunk = undefined;
    resetStream(this.stream, code);
    this.leave();
  }

  private onStreamClose(): void {
    const early = !this.ended;
    const malformed = this.stream.rstCode === errorCode.protocolError;
    this.leave(malformed ? "malformed" : "client-closed");
    this.host.onStreamClosed(this, { early, malformed });
  }

  /** Ends both sides of the exchange, because the stream can no longer be used. */
  private leave(reason: "malformed" | "client-closed" = "client-closed"): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.waiting?.hold(0, 0);
    // A request with a fault is answered for it. Otherwise its client has left, so its body no longer matters.
    if (reason === "malformed") this.body?.abort(reason);
    this.notifyClosed();
    if (reason !== "malformed") this.body?.abort(reason);
  }

  private notifyClosed(): void {
    if (this.ended) return;
    this.ended = true;
    const { onClose } = this;
    this.onClose = null;
    onClose?.(this.closeReason);
  }
}

/** The size at which chunks are sent, and waiting content is counted, immediately; less is left to the next sweep. */
const minCountedBytes = 16_384;

/** A status without content (RFC 9110 15.3.6). Node sends none, even if an upstream has declared a length. */
const resetContent = 205;

const contentLength: ReadonlySet<string> = new Set(["content-length"]);

const endOfStream = { endStream: true } as const;
const trailersFollow = { waitForTrailers: true } as const;

/** Adds an option that Node's own Http2ServerResponse uses, and that is missing in the types of Node. */
const withoutDate = (options?: ServerStreamResponseOptions): ServerStreamResponseOptions =>
  Object.assign({ sendDate: false }, options);
