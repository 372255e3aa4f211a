import type { BodyAbortReason, BodySink, Chunk, HeaderList, RequestBody } from "../message/message.ts";
import type { BodyMemory } from "./held-body.ts";

/** The most pieces of a body that wait for a mirror. */
const maxChunks = 64;

/**
 * The copy of a request body on its way to a mirror: a bounded channel that the request fills and the mirror empties,
 * each at its own pace. Pieces that find the channel full are dropped, so no request ever waits for a mirror.
 */
export class MirrorBody implements RequestBody, BodySink {
  /** Unknown, because pieces may be dropped: the copy travels in the chunked coding. */
  readonly length = undefined;
  /** True when pieces were dropped. */
  incomplete = false;
  private readonly memory: BodyMemory;
  private readonly chunks: Buffer[] = [];
  private sink: BodySink | undefined = undefined;
  private flowing = false;
  private ended = false;
  private trailers: HeaderList | undefined = undefined;
  private abortReason: BodyAbortReason | undefined = undefined;
  private closed = false;

  constructor(memory: BodyMemory) {
    this.memory = memory;
  }

  get started(): boolean {
    return this.sink !== undefined;
  }

  start(sink: BodySink): void {
    this.sink = sink;
    if (this.abortReason === undefined) this.resume();
    else sink.onAbort(this.abortReason);
  }

  resume(): void {
    if (this.closed || this.sink === undefined) return;
    this.flowing = true;
    while (this.flowing && !this.closed) {
      const chunk = this.chunks.shift();
      if (chunk === undefined) return this.settle();
      this.memory.heldBytes -= chunk.length;
      this.flowing = this.sink.onData(chunk);
    }
  }

  /** Accepts or drops a piece of the request; never pauses it. */
  onData(chunk: Chunk): boolean {
    if (this.closed) return true;
    const { memory, chunks } = this;
    if (chunks.length >= maxChunks || memory.heldBytes + chunk.length > memory.maxBytes) {
      this.incomplete = true;
      return true;
    }
    if (this.flowing && this.sink !== undefined) {
      this.flowing = this.sink.onData(chunk);
      return true;
    }
    chunks.push(ownBytes(chunk));
    memory.heldBytes += chunk.length;
    return true;
  }

  onEnd(trailers: HeaderList | undefined): void {
    this.ended = true;
    this.trailers = trailers;
    if (this.flowing) this.settle();
  }

  /** Aborts the copy because the request will not be completed. */
  onAbort(reason: BodyAbortReason): void {
    if (this.ended || this.closed) return;
    this.abortReason = reason;
    this.release();
    this.sink?.onAbort(reason);
  }

  /** Frees the waiting pieces, because the mirror reads no more. */
  release(): void {
    this.closed = true;
    for (const chunk of this.chunks) this.memory.heldBytes -= chunk.length;
    this.chunks.length = 0;
  }

  private settle(): void {
    if (!this.ended || this.closed) return;
    this.closed = true;
    this.sink?.onEnd(this.trailers);
  }
}

/** Copies a small piece of a large buffer, so that it does not keep the whole buffer in memory. */
const ownBytes = (chunk: Chunk): Buffer =>
  typeof chunk === "string"
    ? Buffer.from(chunk, "latin1")
    : chunk.length * 2 < chunk.buffer.byteLength
      ? Buffer.from(chunk)
      : chunk;
