import { HeldContent } from "../../../http2/connection/held-content.ts";
import type { Sender } from "../../../http2/connection/sender.ts";
import { Http2Stream, type ResetCause } from "../../../http2/connection/stream.ts";
import { errorCode } from "../../../http2/frames/frame-types.ts";
import { maxFieldsBytes, putFields } from "../../../http2/hpack/field-block.ts";
import { streamWindowBytes } from "../../../http2/settings.ts";
import type { Chunk, HeaderList, ReadonlyHeaderList, ResponseHead } from "../../../message/message.ts";
import { copyOf } from "../../../sockets/copy-of.ts";
import { isLent } from "../../../sockets/read-buffer.ts";
import type { UpstreamRequest } from "../../upstream.ts";
import type { UpstreamSession, WireEvents, WireStream } from "../session.ts";
import { closedError, refusedError, resetError } from "../stream-errors.ts";
import { maxRequestBytes, putRequestHead } from "./request-block.ts";

/** The amount of waiting content that is sent immediately, as far as possible; less waits for the end of the turn. */
const minSentBytes = 16_384;
/** The amount of waiting content at which the source is paused. */
const maxHeldBytes = 65_536;
/** The largest piece that becomes a string, which can be written together with the head of a response. */
const maxStringBytes = 4096;

/** A session as seen by its streams. */
export type WireHost = UpstreamSession & {
  readonly sender: Sender;
  /** Assigns a stream its number when its head is written. */
  number(stream: NativeWireStream): void;
  /** Reports that `bytes` of the response have been consumed. */
  take(stream: NativeWireStream, bytes: number): void;
  /** Counts content that is sent to the server. */
  countSent(bytes: number): void;
  reset(stream: NativeWireStream, code: number): void;
  /** Ends a stream of which nothing has been sent. */
  drop(stream: NativeWireStream): void;
  /** Closes a stream that both sides have ended. */
  finish(stream: NativeWireStream): void;
};

/** A request on a session of the project's own codec. */
export class NativeWireStream extends Http2Stream implements WireStream {
  /** Views of memory that connections share are copied into frames immediately, or held as copies. */
  readonly takesViews = true;
  /** Whether a final head has been received. */
  responded = false;
  readonly method: string;
  private readonly host: WireHost;
  private readonly events: WireEvents;
  /** The request; undefined once its head is in a frame. */
  private request: UpstreamRequest | undefined;
  /** Declared length of the response's content; 0 if there must be none. */
  private length: number | undefined = undefined;
  private receivedBytes = 0;
  private held: HeldContent | undefined = undefined;
  private isPaused = false;
  /** Whether the response is complete, although some of it might still be held. */
  private hasEnded = false;
  /** Whether the receiver is no longer called, because it received the end or cancelled the stream. */
  private isOver = false;
  private awaitsDrain = false;
  private responseTrailers: HeaderList | undefined = undefined;
  /** The fault of the response, for the access log. */
  private faultText: string | undefined = undefined;

  constructor(host: WireHost, request: UpstreamRequest, events: WireEvents) {
    super(0, 0, streamWindowBytes);
    this.host = host;
    this.request = request;
    this.method = request.method;
    this.events = events;
    this.isComplete = request.body === null;
  }

  write(chunk: Chunk): boolean {
    if (this.isClosed || this.isComplete) return false;
    if (chunk.length === 0) return true;
    const { host } = this;
    host.countSent(chunk.length);
    const isView = typeof chunk !== "string" && isLent(chunk);
    const copiesLater = isView && this.heldBytes === 0;
    if (isView && !copiesLater) this.holdCopy(chunk);
    else this.hold(chunk);
    if (this.heldBytes < minSentBytes && !copiesLater) host.sender.schedule(this);
    else host.sender.sendNow(this);
    if (copiesLater && this.heldBytes > 0) this.keepFirst();
    this.awaitsDrain = this.heldBytes >= maxHeldBytes;
    return !this.awaitsDrain;
  }

  end(trailers: ReadonlyHeaderList | undefined): void {
    if (this.isClosed || this.isComplete) return;
    this.isComplete = true;
    if (trailers !== undefined && trailers.length > 0) this.trailers = [...trailers];
    this.host.sender.schedule(this);
  }

  resume(): void {
    if (!this.isPaused || this.isOver) return;
    this.isPaused = false;
    const { held } = this;
    while (held !== undefined && held.bytes > 0 && !this.isPaused && !this.isOver) this.pass(held.take());
    if (this.hasEnded && !this.isPaused && !this.isOver) this.finish();
  }

  stopSending(): void {
    if (!this.localEnded) this.host.reset(this, errorCode.cancel);
  }

  cancel(): void {
    this.isOver = true;
    if (this.isClosed) this.dropHeld();
    else if (this.id === 0) this.host.drop(this);
    else this.host.reset(this, errorCode.cancel);
  }

  onInformational(status: number, headers: HeaderList): void {
    this.events.onInformational(status, headers);
  }

  onHead(head: ResponseHead): void {
    this.responded = true;
    this.length = head.bodyless ? 0 : head.length;
    this.events.onHead(head);
  }

  /** The response head is well-formed but unusable. */
  onUnusable(text: string): void {
    this.events.onInvalid(text);
  }

  /** Sets the reason of the reset that follows. */
  explain(text: string): void {
    this.faultText = text;
  }

  override mayHaveData(): boolean {
    return this.responded || this.isWrong("response body without a head");
  }

  onContent(bytes: Buffer, start: number, end: number): boolean {
    const length = end - start;
    this.receivedBytes += length;
    if (this.length !== undefined && this.receivedBytes > this.length) {
      return this.isWrong("response body longer than declared");
    }
    if (this.isPaused) {
      this.held ??= new HeldContent();
      this.held.add(bytes.subarray(start, end));
    } else if (length <= maxStringBytes) this.pass(bytes.toString("latin1", start, end));
    else this.pass(this.events.copies ? bytes.subarray(start, end) : copyOf(bytes, start, end));
    return true;
  }

  override get awaitedBytes(): number {
    return this.length === undefined ? Number.POSITIVE_INFINITY : this.length - this.receivedBytes;
  }

  /** The response has ended. Returns false if it is malformed. */
  onRemoteEnd(trailers: HeaderList | undefined): boolean {
    if (this.length !== undefined && this.receivedBytes !== this.length) {
      return this.isWrong("response body shorter than declared");
    }
    this.hasEnded = true;
    this.responseTrailers = trailers;
    if (!this.isPaused && !this.isOver) this.finish();
    return true;
  }

  private isWrong(text: string): false {
    this.faultText = text;
    return false;
  }

  private pass(chunk: Chunk): void {
    const more = this.events.onResponseData(chunk);
    this.host.take(this, chunk.length);
    if (!more) this.isPaused = true;
  }

  private finish(): void {
    this.isOver = true;
    this.events.onResponseEnd(this.responseTrailers);
  }

  onReset(cause: ResetCause, code: number): void {
    this.dropContent();
    // A complete response is delivered nevertheless.
    if (this.hasEnded && !this.isOver) return;
    this.dropHeld();
    if (this.isOver) return;
    this.isOver = true;
    const { events, host } = this;
    if (cause === "fault") return events.onInvalid(this.faultText ?? resetError(code).text);
    const isRefused = cause === "peer" && code === errorCode.refusedStream;
    const isLost = cause === "own";
    const error = isRefused ? refusedError : (host.fault ?? (isLost ? closedError : resetError(code)));
    events.onClose({ refusedBy: isRefused ? host : undefined, isLost, error });
  }

  /** The server has not processed the request and never will. */
  onRefused(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.dropContent();
    this.dropHeld();
    this.events.onClose({ refusedBy: this.host, isLost: false, error: refusedError });
  }

  /** Drops content that was held for delivery, and returns its share of the flow-control window. */
  private dropHeld(): void {
    if (this.held !== undefined && this.held.bytes > 0) this.host.take(this, this.held.drop());
  }

  get hasHead(): boolean {
    return this.request !== undefined;
  }

  get maxHeadBytes(): number {
    return this.request === undefined ? 0 : maxRequestBytes(this.request);
  }

  putHead(into: Buffer, at: number): number {
    const { request } = this;
    if (request === undefined) return at;
    this.request = undefined;
    this.host.number(this);
    return putRequestHead(into, at, request);
  }

  onHeadFramed(): void {}

  get maxTrailerBytes(): number {
    return maxFieldsBytes(this.trailers ?? []);
  }

  putTrailers(into: Buffer, at: number): number {
    return putFields(into, at, this.trailers ?? []);
  }

  onLocalEnd(): void {
    if (this.remoteEnded) this.host.finish(this);
  }

  onAllFramed(): void {
    if (!this.awaitsDrain) return;
    this.awaitsDrain = false;
    this.events.onDrain();
  }
}
