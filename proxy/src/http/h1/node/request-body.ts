import type { BodyAbortReason, BodySink, RequestBody } from "../../../message/message.ts";
import type { FrontClock } from "../clock.ts";
import type { BodyReceiver, IncomingRequest } from "./incoming-request.ts";

/** The number of held bytes of a body at which reading stops. */
export const maxHeldBytes = 65_536;

/**
 * The body of one request, received from Node's parser. Until `start` and while the sink is paused, bytes are held
 * here, up to a limit at which the socket is no longer read.
 */
export class Http1RequestBody implements RequestBody, BodyReceiver {
  readonly length: number | undefined;
  started = false;
  ended = false;
  private readonly request: IncomingRequest;
  private readonly clock: FrontClock;
  private readonly timeoutMs: number;
  private sink: BodySink | undefined = undefined;
  private failure: BodyAbortReason | undefined = undefined;
  private paused = false;
  private deadlineMs = Number.POSITIVE_INFINITY;
  private held: Buffer[] = [];
  private heldBytes = 0;

  constructor(request: IncomingRequest, length: number | undefined, clock: FrontClock, timeoutMs: number) {
    this.request = request;
    this.length = length;
    this.clock = clock;
    this.timeoutMs = timeoutMs;
    request.receiver = this;
  }

  /** True once the last byte has been read from the connection; it may still wait for the sink. */
  get received(): boolean {
    return this.length === 0 || this.request.complete;
  }

  start(sink: BodySink): void {
    if (this.started) throw new Error("a request body is read once");
    this.started = true;
    if (this.failure !== undefined) return sink.onAbort(this.failure);
    if (this.length === 0) return sink.onEnd(undefined);
    this.sink = sink;
    this.deadlineMs = this.clock.deadline(this.timeoutMs);
    this.readOn();
  }

  resume(): void {
    if (!this.paused) return;
    this.paused = false;
    this.deadlineMs = this.clock.deadline(this.timeoutMs);
    this.readOn();
  }

  /** Aborts the body; the sink is notified now, or when the body is started. */
  abort(reason: BodyAbortReason): void {
    if (this.failure !== undefined) return;
    this.failure = reason;
    this.held = [];
    const { sink } = this;
    this.sink = undefined;
    sink?.onAbort(reason);
  }

  /** Reads and discards the rest of the body, so that the next request can be read. */
  discard(): void {
    this.sink = undefined;
    this.held = [];
    this.failure ??= "client-closed";
    this.request._read(0);
  }

  /** True if bytes of the client were awaited for the body timeout and none arrived. */
  get stalled(): boolean {
    return this.clock.nowMs >= this.deadlineMs && this.sink !== undefined && !this.paused && !this.received;
  }

  receive(piece: Buffer | null): boolean {
    if (piece === null) {
      this.ended = true;
      if (this.held.length === 0) this.end();
      return true;
    }
    if (this.failure !== undefined) return true;
    if (this.sink !== undefined && !this.paused) {
      this.pass(piece);
      return true;
    }
    this.held.push(piece);
    this.heldBytes += piece.length;
    return this.heldBytes < maxHeldBytes;
  }

  /** Passes on the held bytes, and lets Node read again once none are left. */
  private readOn(): void {
    const { held } = this;
    let passed = 0;
    while (passed < held.length && !this.paused) {
      const piece = held[passed++] as Buffer;
      this.heldBytes -= piece.length;
      this.pass(piece);
    }
    this.held = this.sink === undefined ? [] : held.slice(passed);
    if (this.held.length > 0) return;
    if (this.ended) this.end();
    else if (!this.paused) this.request._read(0);
  }

  private pass(piece: Buffer): void {
    if (this.sink === undefined) return;
    this.deadlineMs = this.clock.deadline(this.timeoutMs);
    if (!this.sink.onData(piece) && this.failure === undefined) this.paused = true;
  }

  private end(): void {
    const { sink } = this;
    if (sink === undefined || this.paused) return;
    this.sink = undefined;
    const { rawTrailers } = this.request;
    sink.onEnd(rawTrailers.length === 0 ? undefined : rawTrailers);
  }
}
