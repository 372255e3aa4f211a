import type { FrontContext } from "../context.ts";

/** A waiting request, for which `waitingBytes` of memory are counted until its turn. */
type WaitingRequest = { readonly waitingBytes: number };

/** Requests that a client sent before the response to an earlier one had ended, answered in order (RFC 9112 9.3.2). */
export class PipelinedRequests<Stream extends WaitingRequest> {
  private readonly streams: Stream[] = [];
  private readonly context: FrontContext;

  /** `context` counts the memory of the waiting requests. */
  constructor(context: FrontContext) {
    this.context = context;
  }

  get length(): number {
    return this.streams.length;
  }

  get last(): Stream | undefined {
    return this.streams.at(-1);
  }

  /** Adds a request; returns false if the memory of waiting requests is full. */
  add(stream: Stream): boolean {
    if (!this.context.reserveWaiting(stream.waitingBytes)) return false;
    this.streams.push(stream);
    return true;
  }

  takeFirst(): Stream | undefined {
    return this.release(this.streams.shift());
  }

  forgetLast(): void {
    this.release(this.streams.pop());
  }

  forgetAll(): void {
    for (const stream of this.streams) this.release(stream);
    this.streams.length = 0;
  }

  private release(stream: Stream | undefined): Stream | undefined {
    if (stream !== undefined) this.context.releaseWaiting(stream.waitingBytes);
    return stream;
  }
}
