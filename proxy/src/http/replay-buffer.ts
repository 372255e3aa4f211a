import type { Chunk } from "../message/message.ts";

const firstBytes = 1024;

/**
 * Keeps a body of at most `maxBytes`, so that it can be used again. Bytes are copied into one buffer, so that the
 * memory is bounded even if a client sends tiny pieces. A body that does not fit is dropped immediately.
 */
export class ReplayBuffer {
  overflowed = false;
  private readonly maxBytes: number;
  private memory: Buffer = empty;
  private size = 0;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  /** The bytes added so far; empty after an overflow. */
  get bytes(): Buffer {
    return this.memory.subarray(0, this.size);
  }

  add(chunk: Chunk): void {
    if (this.overflowed) return;
    const size = this.size + chunk.length;
    if (size > this.maxBytes) {
      this.overflowed = true;
      this.memory = empty;
      this.size = 0;
      return;
    }
    this.reserve(size);
    if (typeof chunk === "string") this.memory.write(chunk, this.size, "latin1");
    else chunk.copy(this.memory, this.size);
    this.size = size;
  }

  private reserve(size: number): void {
    if (size <= this.memory.length) return;
    const grown = Buffer.allocUnsafeSlow(
      Math.min(this.maxBytes, Math.max(firstBytes, size, this.memory.length * 2)),
    );
    this.memory.copy(grown, 0, 0, this.size);
    this.memory = grown;
  }
}

const empty = Buffer.alloc(0);
