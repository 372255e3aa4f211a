import type { BodyAbortReason, BodySink, Chunk, HeaderList, RequestBody } from "../message/message.ts";
import type { BodyMemory } from "./body-memory.ts";
import { ReplayBuffer } from "./replay-buffer.ts";

/** Why a body could not be read whole; `no-memory`: too many others are held. */
export type HoldFailure = BodyAbortReason | "no-memory";

/**
 * The body of a request that is read whole before anything is sent upstream, and then sent from here. Small by its
 * limit, and all held bodies of a worker together by its memory.
 */
export class HeldBody implements RequestBody, BodySink {
  started = false;
  /** Undefined as long as it is not whole. */
  bytes: Buffer | undefined = undefined;
  private readonly source: RequestBody;
  private readonly maxBytes: number;
  private readonly memory: BodyMemory;
  private readonly onProgress: () => void;
  private readonly collected: ReplayBuffer;
  private trailers: HeaderList | undefined = undefined;
  private reserved = 0;
  private settle: ((failure: HoldFailure | undefined) => void) | undefined = undefined;
  /** Waits for its sink to take more. */
  private ending: BodySink | undefined = undefined;

  constructor(source: RequestBody, maxBytes: number, memory: BodyMemory, onProgress: () => void) {
    this.source = source;
    this.maxBytes = maxBytes;
    this.memory = memory;
    this.onProgress = onProgress;
    this.collected = new ReplayBuffer(maxBytes);
  }

  /** Reads the source to its end; answers why that did not succeed. Called once. */
  collect(): Promise<HoldFailure | undefined> {
    return new Promise((resolve) => {
      this.settle = resolve;
      this.source.start(this);
    });
  }

  /** With trailers the message has to stay without a declared length. */
  get length(): number | undefined {
    return this.trailers === undefined ? this.bytes?.length : this.source.length;
  }

  onData(chunk: Chunk): boolean {
    if (this.settle === undefined) return false;
    this.onProgress();
    const size = this.reserved + chunk.length;
    if (size > this.maxBytes) return this.fail("too-large");
    if (this.memory.heldBytes + chunk.length > this.memory.maxBytes) return this.fail("no-memory");
    this.memory.heldBytes += chunk.length;
    this.reserved = size;
    this.collected.add(chunk);
    return true;
  }

  onEnd(trailers: HeaderList | undefined): void {
    if (this.settle === undefined) return;
    this.bytes = this.collected.bytes;
    this.trailers = trailers;
    this.finish(undefined);
  }

  onAbort(reason: BodyAbortReason): void {
    this.fail(reason);
  }

  start(sink: BodySink): void {
    this.started = true;
    const { bytes } = this;
    this.release();
    if (bytes === undefined || bytes.length === 0 || sink.onData(bytes)) sink.onEnd(this.trailers);
    else this.ending = sink;
  }

  resume(): void {
    const { ending } = this;
    this.ending = undefined;
    ending?.onEnd(this.trailers);
  }

  /** Gives the memory back: the request is over, or its body is on the way. */
  release(): void {
    this.memory.heldBytes -= this.reserved;
    this.reserved = 0;
    this.bytes = undefined;
    this.finish("client-closed");
  }

  private fail(failure: HoldFailure): false {
    this.finish(failure);
    return false;
  }

  private finish(failure: HoldFailure | undefined): void {
    const { settle } = this;
    this.settle = undefined;
    settle?.(failure);
  }
}
