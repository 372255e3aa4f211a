import { awake } from "../../../timing/awake-clock.ts";
import type { BodyAbortReason, BodySink, Chunk, HeaderList, RequestBody } from "../../../message/message.ts";
import { copyOf } from "../../../sockets/copy-of.ts";
import { lend } from "../../../sockets/read-buffer.ts";
import { HeldContent } from "../../../http2/connection/held-content.ts";

/** Renews the client's window for `bytes` that were accepted. */
export type BodyHost = { take(bytes: number): void };

/** Pieces of up to this size become strings, which can be sent in one write with the head of a request. */
const maxStringBytes = 4096;

/**
 * The body of one HTTP/2 request. Bytes that the sink does not accept are held here. They are limited by the window of
 * the stream, which is renewed only for accepted bytes.
 */
export class NativeRequestBody implements RequestBody {
  readonly length: number | undefined;
  started = false;
  /** The time since which data of the client is awaited, in milliseconds of the awake clock; 0 if none is. */
  waitingSinceMs = 0;
  private readonly host: BodyHost;
  /** True once the end was passed to the sink, or the body was aborted. */
  private settled = false;
  private hasEnded = false;
  private paused = false;
  private receivedBytes = 0;
  private sink: BodySink | undefined = undefined;
  private trailers: HeaderList | undefined = undefined;
  private abortReason: BodyAbortReason = "client-closed";
  private held: HeldContent | undefined = undefined;

  constructor(length: number | undefined, host: BodyHost) {
    this.length = length;
    this.host = host;
  }

  /** The bytes that the client still has to send; infinite if it has not declared a length. */
  get awaitedBytes(): number {
    return this.length === undefined ? Number.POSITIVE_INFINITY : this.length - this.receivedBytes;
  }

  start(sink: BodySink): void {
    this.started = true;
    if (this.settled) return sink.onAbort(this.abortReason);
    this.sink = sink;
    this.readOn();
  }

  resume(): void {
    if (this.settled || !this.started) return;
    this.paused = false;
    this.readOn();
  }

  /** Aborts the body, which will not be completed; later bytes are dropped. */
  abort(reason: BodyAbortReason): void {
    if (this.settled) return;
    this.settled = true;
    this.waitingSinceMs = 0;
    this.abortReason = reason;
    if (this.held !== undefined) this.host.take(this.held.drop());
    this.sink?.onAbort(reason);
  }

  /** Receives a piece that is only valid during the call. Returns false if the body exceeds its declared length. */
  receive(bytes: Buffer, start: number, end: number): boolean {
    const length = end - start;
    this.receivedBytes += length;
    if (this.length !== undefined && this.receivedBytes > this.length) return false;
    if (this.settled) this.host.take(length);
    else if (this.sink === undefined || this.paused || (this.held?.bytes ?? 0) > 0) {
      this.hold(bytes.subarray(start, end));
    } else if (length <= maxStringBytes) this.pass(bytes.toString("latin1", start, end));
    else this.pass(this.sink.takesViews === true ? lend(bytes, start, end) : copyOf(bytes, start, end));
    return true;
  }

  /** Called when the client has sent everything. Returns false if that is not the declared length. */
  end(trailers: HeaderList | undefined): boolean {
    if (this.length !== undefined && this.receivedBytes !== this.length) return false;
    this.hasEnded = true;
    this.waitingSinceMs = 0;
    this.trailers = trailers;
    if (!this.settled && this.sink !== undefined && !this.paused && (this.held?.bytes ?? 0) === 0)
      this.finish();
    return true;
  }

  private hold(bytes: Buffer): void {
    this.held ??= new HeldContent();
    this.held.add(bytes);
  }

  /** Passes on the held bytes, and then the end. */
  private readOn(): void {
    const { held } = this;
    while (held !== undefined && held.bytes > 0 && !this.paused && !this.settled) this.pass(held.take());
    if (this.paused || this.settled) return;
    if (this.hasEnded) this.finish();
    else this.waitingSinceMs = awake.nowMs;
  }

  private pass(bytes: Chunk): void {
    const more = this.sink?.onData(bytes) === true;
    this.host.take(bytes.length);
    if (this.settled) return;
    this.paused = !more;
    this.waitingSinceMs = more && !this.hasEnded ? awake.nowMs : 0;
  }

  private finish(): void {
    this.settled = true;
    this.sink?.onEnd(this.trailers);
  }
}
