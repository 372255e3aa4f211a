import type { IncomingMessage } from "node:http";
import type { BodyAbortReason, BodySink, RequestBody } from "../message.ts";
import type { FrontClock } from "./clock.ts";

/**
 * The body of one request. Until `start` Node's parser holds at most its own buffer (64 KiB) and then stops reading
 * the socket; the same while the sink is paused.
 */
export class Http1RequestBody implements RequestBody {
  readonly length: number | undefined;
  started = false;
  private readonly request: IncomingMessage;
  private readonly clock: FrontClock;
  private readonly timeoutMs: number;
  private sink: BodySink | undefined = undefined;
  private failure: BodyAbortReason | undefined = undefined;
  private paused = false;
  private deadlineMs = Number.POSITIVE_INFINITY;

  constructor(request: IncomingMessage, length: number | undefined, clock: FrontClock, timeoutMs: number) {
    this.request = request;
    this.length = length;
    this.clock = clock;
    this.timeoutMs = timeoutMs;
  }

  /** True when the last byte has been read from the connection; it may still wait for the sink. */
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
    this.request.on("end", () => this.end());
    this.request.on("data", (chunk: Buffer) => this.read(chunk));
  }

  resume(): void {
    if (!this.paused) return;
    this.paused = false;
    this.deadlineMs = this.clock.deadline(this.timeoutMs);
    this.request.resume();
  }

  /** Ends the body before its end; the sink hears it now, or when it comes. */
  abort(reason: BodyAbortReason): void {
    if (this.failure !== undefined) return;
    this.failure = reason;
    const { sink } = this;
    this.sink = undefined;
    sink?.onAbort(reason);
  }

  /** Nobody wants the rest: it is read and thrown away, so that the connection gets past it. */
  discard(): void {
    this.sink = undefined;
    this.failure ??= "client-closed";
    this.request.resume();
  }

  /** True when the client has sent nothing for the body timeout although it was its turn. */
  get stalled(): boolean {
    return this.clock.nowMs >= this.deadlineMs && this.sink !== undefined && !this.paused && !this.received;
  }

  private read(chunk: Buffer): void {
    if (this.sink === undefined) return;
    this.deadlineMs = this.clock.deadline(this.timeoutMs);
    if (this.sink.onData(chunk) || this.failure !== undefined) return;
    this.paused = true;
    this.request.pause();
  }

  private end(): void {
    const { sink } = this;
    this.sink = undefined;
    if (sink === undefined) return;
    const { rawTrailers } = this.request;
    sink.onEnd(rawTrailers.length === 0 ? undefined : rawTrailers);
  }
}
