import type { Piece } from "../../../sockets/read-buffer.ts";

const none = Buffer.alloc(0);
/** The fewest bytes that are allocated for bytes of several reads. */
const minCapacity = 1024;

/**
 * Bytes that were read and are not needed yet, in order. A single read that may be kept is kept unchanged. Several
 * reads are joined, so that many small ones do not use a multiple of their size. Bytes that have been passed on are
 * never overwritten.
 */
export class HeldBytes {
  private memory: Buffer = none;
  private start = 0;
  private end = 0;
  /** True if the memory was allocated here, and may have room after `end`. */
  private isOwn = false;

  get length(): number {
    return this.end - this.start;
  }

  /** The size of the memory that the held bytes keep alive. */
  get memoryBytes(): number {
    return this.length === 0 ? 0 : this.memory.buffer.byteLength;
  }

  /** The held bytes, which are never overwritten; complete until more are added. */
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
    // The memory after the held part of a read belongs to others, and must not be overwritten.
    if (!this.isOwn || this.end + size > this.memory.length) this.grow(size);
    this.memory.set(bytes.subarray(from, to), this.end);
    this.end += size;
  }

  /** Drops the first `size` bytes. */
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
