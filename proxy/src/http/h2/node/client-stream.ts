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
  /** By the client, or for its fault, before the response was complete. */
  readonly early: boolean;
  /** The request breaks RFC 9113. */
  readonly malformed: boolean;
};

/** What a stream needs from its connection. */
export type StreamHost = {
  readonly guard: FloodGuard;
  readonly memory: ResponseMemory;
  /** Sees to it that `flushHead` is called at the end of this turn. */
  deferHead(stream: Http2ClientStream): void;
  /** Shares among its streams what has left of their pieces since this was called last. */
  creditPartlyTaken(): void;
  onStreamClosed(stream: Http2ClientStream, end: StreamEnd): void;
};

/**
 * The client's side of one HTTP/2 request. The head waits for the first data or the end of the same turn, so that a
 * message at hand leaves as HEADERS and one last DATA, or as HEADERS alone (gRPC's trailers-only form).
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
  /** A final head was handed over; `head` until it is given to Node. */
  private headTaken = false;
  private head: ResponseHead | undefined = undefined;
  private firstChunk: Chunk | undefined = undefined;
  private trailers: ReadonlyHeaderList | undefined = undefined;
  private bodyless = false;
  /** Declared length of the content, where there is content. */
  private length: number | undefined = undefined;
  private takesTrailers = false;
  private awaitsDrain = false;
  private ended = false;
  private isClosed = false;
  private closeReason: ClientCloseReason = "client-closed";
  pace: ReadingPace | undefined = undefined;
  private waiting: WaitingResponse | undefined = undefined;
  awaitsRoom = false;
  /** Content that has left as a part of pieces that are still on their way, as far as the connection can tell. */
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
    // Every failure also closes the stream, which is where it is dealt with.
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

  /** The response cannot be completed as it was announced: the client must see that. */
  private breakOff(): void {
    this.closeReason = "broken-response";
    this.abort();
  }

  closeAfterResponse(): void {}

  upgrade(): undefined {
    return undefined;
  }

  /** Hands the head to Node if it still waits; called at the end of the turn. */
  flushHead(): void {
    const { head, firstChunk } = this;
    if (head === undefined || this.isClosed) return;
    this.head = undefined;
    this.firstChunk = undefined;
    // A message of known length has no trailers worth an extra frame, except in gRPC, which puts its status there.
    const whole = this.bodyless || (head.length !== undefined && !this.grpc);
    if (this.respond(head, whole, this.bodyless) && firstChunk !== undefined) this.push(firstChunk);
  }

  /** Reports to the exchange, once, that the client is out of reach for a reason of the proxy. */
  cut(reason: ClientCloseReason = "response-memory"): void {
    this.closeReason = reason;
    this.reset(errorCode.cancel);
  }

  /** True until the response was handed over completely. */
  get open(): boolean {
    return !this.ended && !this.isClosed;
  }

  /** Ends what exceeded a limit and answers which one. */
  sweep(nowMs: number, limits: StreamLimits): ExceededLimit | undefined {
    return this.isClosed ? undefined : sweepStream(this, nowMs, limits);
  }

  /** Content that was handed over and has not left completely. */
  get heldBytes(): number {
    return this.isClosed ? 0 : this.stream.writableLength + (this.firstChunk?.length ?? 0);
  }

  /** Bytes of pieces that have left completely since this was asked last. */
  newlyCompletedBytes(): number {
    const bytes = this.completedBytes - this.sweptBytes;
    this.sweptBytes += bytes;
    return bytes;
  }

  /** `bytes` have left for this stream of a piece that has not left completely. */
  countPartly(bytes: number): void {
    this.partlyTakenBytes += bytes;
  }

  /** The memory of waiting responses asks. */
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
   * Gives the head to Node. `whole`: no trailers follow, so that the last DATA ends the stream; else Node asks for
   * trailers after the data. False when the client has left meanwhile.
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

  /** The response is complete while the request is not: the rest of it will not be read (RFC 9113 8.1). */
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

  /** Nothing can be done with the stream any more: lets go of both sides of the exchange. */
  private leave(reason: "malformed" | "client-closed" = "client-closed"): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.waiting?.hold(0, 0);
    this.body?.abort(reason);
    if (this.ended) return;
    this.ended = true;
    const { onClose } = this;
    this.onClose = null;
    onClose?.(this.closeReason);
  }
}

/** A piece of at least this size leaves at once, and what waits is counted at once; the rest is counted by the next sweep. */
const minCountedBytes = 16_384;

/** A status without content (RFC 9110 15.3.6): Node sends none, even when an upstream has announced some. */
const resetContent = 205;

const contentLength: ReadonlySet<string> = new Set(["content-length"]);

const endOfStream = { endStream: true } as const;
const trailersFollow = { waitForTrailers: true } as const;

/** The option of Node's own Http2ServerResponse, which its types do not know. */
const withoutDate = (options?: ServerStreamResponseOptions): ServerStreamResponseOptions =>
  Object.assign({ sendDate: false }, options);
