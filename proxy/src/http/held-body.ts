import type { BodyAbortReason, BodySink, Chunk, HeaderList, RequestBody } from "../message/message.ts";
import { ReplayBuffer } from "./replay-buffer.ts";

/**
 * Counts the bytes of request bodies that a worker holds, up to a limit. Held bodies and copies for mirrors have one
 * each.
 */
export class BodyMemory {
  readonly maxBytes: number;
  heldBytes = 0;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }
}

/** The reason why a body was not read completely; `no-memory` means that held bodies fill the memory of the worker. */
export type HoldFailure = BodyAbortReason | "no-memory";

/**
 * The body of a request that is read completely before anything is sent upstream, and is then sent from memory. Its
 * size is limited by `maxBytes`, and that of all held bodies of a worker by their `BodyMemory`.
 */
export class HeldBody implements RequestBody, BodySink {
  started = false;
  /** The whole body; undefined until it has been read. */
  bytes: Buffer | undefined = undefined;
  private readonly source: RequestBody;
  private readonly maxBytes: number;
  private readonly memory: BodyMemory;
  private readonly onProgress: () => void;
  private readonly collected: ReplayBuffer;
  private trailers: HeaderList | undefined = undefined;
  private reserved = 0;
  private settle: ((failure: HoldFailure | undefined) => void) | undefined = undefined;
  /** The sink that gets the end of the body when it resumes. */
  private ending: BodySink | undefined = undefined;

  constructor(source: RequestBody, maxBytes: number, memory: BodyMemory, onProgress: () => void) {
    this.source = source;
    this.maxBytes = maxBytes;
    this.memory = memory;
    this.onProgress = onProgress;
    this.collected = new ReplayBuffer(maxBytes);
  }

  /** Reads the source to its end; resolves to the reason of a failure, otherwise to undefined. Called once. */
  collect(): Promise<HoldFailure | undefined> {
    return new Promise((resolve) => {
      this.settle = resolve;
      this.source.start(this);
    });
  }

  /**
   * The length to declare. With trailers that of the source, since a message with trailers must not declare one of its
   * own.
   */
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

  /** Frees the memory, because the request has ended or its body is being sent. */
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
