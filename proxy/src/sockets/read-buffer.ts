import type { OnReadOpts } from "node:net";

/**
 * Bytes in memory that is reused for reads: they may be read, and overwritten, until the call that passed them returns.
 * The type is no `Buffer`, so that they cannot be passed on or kept without a copy (`Buffer.from`).
 */
export interface BorrowedBytes extends Uint8Array {
  toString(encoding?: "latin1", start?: number, end?: number): string;
  indexOf(value: string | number, byteOffset?: number, encoding?: "latin1"): number;
}

/**
 * The bytes of one read: a view that ends where the read ended, so that no search or conversion can reach bytes of an
 * earlier read of this connection or another one. Bytes that are `owned` may be handed on as they are.
 */
export type Piece =
  { readonly owned: true; readonly bytes: Buffer } | { readonly owned: false; readonly bytes: BorrowedBytes };

/** A view for a receiver that keeps nothing of what it is given once it has returned. */
export const lend = (bytes: BorrowedBytes, from: number, to: number): Buffer =>
  from === 0 && to === bytes.length ? (bytes as Buffer) : (bytes as Buffer).subarray(from, to);

/** The most bytes of one read, unless the receiver reports more room. */
const ordinaryReadBytes = 65_536;
/**
 * The most bytes of a read that a head may be in: an ordinary read, and the head before it, so that no few last bytes of a message of that
 * size cost a read and a write of their own.
 */
export const sharedReadBytes = ordinaryReadBytes + 2048;

/** Memory that connections with small reads share: its bytes are copied out in the same turn. */
const shared = Buffer.allocUnsafeSlow(sharedReadBytes);
const ordinaryShared = shared.subarray(0, ordinaryReadBytes);

/** Whether bytes are a view of the shared memory: they are written over by the next read of any connection. */
export const isLent = (bytes: Uint8Array): boolean => bytes.buffer === shared.buffer;

/** The shared memory for a read of at most so many bytes, the same view of it wherever that is possible. */
function sharedFor(maxReadBytes: number): Buffer {
  if (maxReadBytes >= sharedReadBytes) return shared;
  return maxReadBytes === ordinaryReadBytes ? ordinaryShared : shared.subarray(0, maxReadBytes);
}

/** The room of a receiver that has proved to be fast: the most bytes of any read. */
export const fastReadBytes = 262_144;
/** The least size of a read, even with less room. */
const minReadBytes = 4096;
/** Private memory with less space left than this is not reused. */
const minRoomBytes = 16_384;
/** With at least this many bytes to come a body may become a bulk transfer. */
const bulkBytes = 65_536;

/**
 * Private memory that no transfer uses, by size, kept for the next ones; more of it is left to the garbage collector.
 */
const spares = { ordinary: [] as Buffer[], fast: [] as Buffer[] };
const maxSpares = 16;

/**
 * The memory that a connection reads into. By default it is shared by all connections of the thread, and copied out at
 * once. A large body whose receiver keeps up gets private memory, which is passed on without a copy and reused only
 * when the receiver holds nothing of it; for a receiver that falls behind it is shared memory again. No read is larger
 * than the room of the receiver, so that slow clients cost little (docs/features/upstream.md, "Memory").
 */
export class ReadBuffer {
  private bulk = false;
  private sawFullRead = false;
  private slab: Buffer = shared;
  private usedBytes = 0;
  /** Nothing refers to the private memory, which the reader still has. */
  private isFree = false;
  private maxReadBytes = sharedReadBytes;

  /**
   * The option `onread` of a socket that reads into this memory. `receive` returns whether to continue, after it has called
   * `settle` or `reset`.
   */
  onread(receive: (piece: Piece) => boolean): OnReadOpts {
    return {
      buffer: () => this.next(),
      callback: (length, into) => receive(this.pieceOf(into as Buffer, length)),
    };
  }

  /** The memory of the next read, to be asked for after each one. Only a reader may see it, and gives it to the system. */
  next(): Buffer {
    const { maxReadBytes } = this;
    if (!this.bulk) {
      this.leaveSlab();
      return sharedFor(maxReadBytes);
    }
    const isFast = maxReadBytes > ordinaryReadBytes;
    if (this.isUsedUp(isFast)) {
      const size = isFast ? fastReadBytes : ordinaryReadBytes;
      this.slab = (isFast ? spares.fast : spares.ordinary).pop() ?? Buffer.allocUnsafeSlow(size);
      this.usedBytes = 0;
    }
    const end = Math.min(this.slab.length, this.usedBytes + maxReadBytes);
    return end - this.usedBytes === this.slab.length ? this.slab : this.slab.subarray(this.usedBytes, end);
  }

  private isUsedUp(isFast: boolean): boolean {
    const { slab } = this;
    if (slab === shared || slab.length - this.usedBytes < minRoomBytes) return true;
    return isFast && slab.length < fastReadBytes;
  }

  /** What a read has left in the memory that `next` gave for it. */
  pieceOf(memory: Buffer, length: number): Piece {
    this.sawFullRead = length === memory.length || length >= ordinaryReadBytes;
    const bytes = memory.subarray(0, length);
    if (this.slab === shared) return { owned: false, bytes };
    this.usedBytes += length;
    return { owned: true, bytes };
  }

  /**
   * Chooses the memory of the next read of a body: by whether the receiver wants `more`, and how many bytes it still
   * holds (undefined: unknown). `announcedBytes` are yet to come, and the receiver has room for `roomBytes` (undefined:
   * an ordinary read).
   */
  settle(announcedBytes: number, heldBytes: number | undefined, more: boolean, roomBytes?: number): void {
    // A receiver that paused has room again when it resumes.
    this.maxReadBytes = more ? Math.max(minReadBytes, roomBytes ?? ordinaryReadBytes) : ordinaryReadBytes;
    const keepsUp = heldBytes === undefined ? more && this.maxReadBytes >= minRoomBytes : heldBytes === 0;
    this.bulk = keepsUp && (this.bulk || this.sawFullRead || announcedBytes >= bulkBytes);
    if (heldBytes === 0) this.usedBytes = 0;
    this.isFree = false;
  }

  /** The same for a receiver that keeps nothing of what it is given, for which no other memory is needed. */
  stayShared(more: boolean, roomBytes: number | undefined): void {
    this.maxReadBytes = more ? Math.max(minReadBytes, roomBytes ?? ordinaryReadBytes) : ordinaryReadBytes;
    this.bulk = false;
  }

  /** False while all that is read is copied out at once. */
  get isPrivate(): boolean {
    return this.slab !== shared;
  }

  /** Ends a body, of which the receiver still holds `heldBytes` (undefined: unknown). */
  reset(heldBytes: number | undefined): void {
    this.bulk = false;
    this.maxReadBytes = sharedReadBytes;
    this.isFree = heldBytes === 0;
  }

  /** Once the reader has other memory, others may have this one. */
  private leaveSlab(): void {
    const { slab, isFree } = this;
    if (slab === shared) return;
    this.slab = shared;
    this.usedBytes = 0;
    this.isFree = false;
    const free = slab.length === fastReadBytes ? spares.fast : spares.ordinary;
    if (isFree && free.length < maxSpares) free.push(slab);
  }
}
