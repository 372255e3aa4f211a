import type { Piece } from "../../../sockets/read-buffer.ts";

const none = Buffer.alloc(0);
/** Least that is allocated for bytes of several reads. */
const minCapacity = 1024;

/**
 * Bytes that were read and are not needed yet, in their order. A single read that may be kept is kept as it is; several
 * are joined, so that many small reads do not take many times their size. Bytes that have been given out are never
 * written over.
 */
export class HeldBytes {
  private memory: Buffer = none;
  private start = 0;
  private end = 0;
  /** The memory was allocated here, with room behind its end. */
  private isOwn = false;

  get length(): number {
    return this.end - this.start;
  }

  /** What the held bytes keep in memory. */
  get memoryBytes(): number {
    return this.length === 0 ? 0 : this.memory.buffer.byteLength;
  }

  /** The bytes, which stay what they are; valid until more are added. */
  get bytes(): Buffer {
    const { memory, start, end } = this;
    return start === 0 && end === memory.length ? memory : memory.subarray(start, end);
  }

  /** Adds the bytes of a piece from index `from` up to `to`. */
  add({ owned, bytes }: Piece, from: number, to = bytes.length): void {
    const size = to - from;
    if (size === 0) return;
    if (this.length === 0) {
      this.memory = owned ? bytes : Buffer.from(bytes.subarray(from, to));
      this.start = owned ? from : 0;
      this.end = this.start + size;
      this.isOwn = false;
      return;
    }
    // What follows the held part of a read is not ours to write over.
    if (!this.isOwn || this.end + size > this.memory.length) this.grow(size);
    this.memory.set(bytes.subarray(from, to), this.end);
    this.end += size;
  }

  /** The first `size` bytes are not needed any more. */
  consume(size: number): void {
    this.start += size;
    if (this.start >= this.end) this.clear();
  }

  clear(): void {
    this.memory = none;
    this.start = 0;
    this.end = 0;
  }

  private grow(bySize: number): void {
    const { length } = this;
    const memory = Buffer.allocUnsafeSlow(Math.max(minCapacity, 2 * length, length + bySize));
    this.memory.copy(memory, 0, this.start, this.end);
    this.memory = memory;
    this.start = 0;
    this.end = length;
    this.isOwn = true;
  }
}
