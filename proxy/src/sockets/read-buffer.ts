import type { OnReadOpts } from "node:net";

/**
 * Bytes in memory that is reused for reads: they may be read, and overwritten, until the call that passed them returns.
 * The type is not a `Buffer`, so that they cannot be passed on or kept without a copy (`Buffer.from`).
 */
export interface BorrowedBytes extends Uint8Array {
  toString(encoding?: "latin1", start?: number, end?: number): string;
  indexOf(value: string | number, byteOffset?: number, encoding?: "latin1"): number;
}

/**
 * The bytes of one read: a view that ends where the read ended, so that no search or conversion can reach bytes of an
 * earlier read of this connection or another one. Bytes that are `owned` can be passed on without a copy.
 */
export type Piece =
  { readonly owned: true; readonly bytes: Buffer } | { readonly owned: false; readonly bytes: BorrowedBytes };

/** Returns a view for a receiver that keeps no reference to it after it has returned. */
export const lend = (bytes: BorrowedBytes, from: number, to: number): Buffer =>
  from === 0 && to === bytes.length ? (bytes as Buffer) : (bytes as Buffer).subarray(from, to);

/** The most bytes of one read, unless the receiver reports more room. */
const ordinaryReadBytes = 65_536;
/**
 * The most bytes of a read that can contain a head: an ordinary read and the head before it. Without the extra room,
 * the last few bytes of a message of the ordinary size would cost another read and write.
 */
export const sharedReadBytes = ordinaryReadBytes + 2048;

/** The memory that connections with small reads share. Its bytes are copied out in the same turn. */
const shared = Buffer.allocUnsafeSlow(sharedReadBytes);
const ordinaryShared = shared.subarray(0, ordinaryReadBytes);

/** Reports whether bytes are a view of the shared memory, which the next read of any connection overwrites. */
export const isLent = (bytes: Uint8Array): boolean => bytes.buffer === shared.buffer;

/** Returns the shared memory for a read of at most `maxReadBytes`; the same view each time if possible. */
function sharedFor(maxReadBytes: number): Buffer {
  if (maxReadBytes >= sharedReadBytes) return shared;
  return maxReadBytes === ordinaryReadBytes ? ordinaryShared : shared.subarray(0, maxReadBytes);
}

/** The room of a receiver that has proved to be fast, and the most bytes of any read. */
export const fastReadBytes = 262_144;
/** The smallest size of a read, even if the receiver has less room. */
const minReadBytes = 4096;
/** Private memory with less space left than this is not reused. */
const minRoomBytes = 16_384;
/** The number of announced bytes from which a body can become a bulk transfer. */
const bulkBytes = 65_536;

/** Unused private memory by size, kept for later transfers. More than `maxSpares` is left to the garbage collector. */
const spares = { ordinary: [] as Buffer[], fast: [] as Buffer[] };
const maxSpares = 16;

/**
 * The memory that a connection reads into. By default it is shared by all connections of the thread, and copied out
 * immediately. A large body whose receiver keeps up gets private memory, which is passed on without a copy and reused
 * only when the receiver holds nothing of it. If the receiver falls behind, shared memory is used again. No read is
 * larger than the room of the receiver, so that slow clients cost little (docs/features/upstream.md, "Memory").
 */
export class ReadBuffer {
  private bulk = false;
  private sawFullRead = false;
  private slab: Buffer = shared;
  private usedBytes = 0;
  /** Whether nothing but the reader refers to the private memory any more. */
  private isFree = false;
  private maxReadBytes = sharedReadBytes;

  /**
   * Returns the option `onread` of a socket that reads into this memory. `receive` must call `settle` or `reset`, and
   * return whether to continue.
   */
  onread(receive: (piece: Piece) => boolean): OnReadOpts {
    return {
      buffer: () => this.next(),
      callback: (length, into) => receive(this.pieceOf(into as Buffer, length)),
    };
  }

  /**
   * Returns the memory of the next read; called after each read. Only the reader may use it, for a call to the kernel.
   */
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

  /** Returns the bytes that a read has written to the memory that `next` returned for it. */
  pieceOf(memory: Buffer, length: number): Piece {
    this.sawFullRead = length === memory.length || length >= ordinaryReadBytes;
    const bytes = memory.subarray(0, length);
    if (this.slab === shared) return { owned: false, bytes };
    this.usedBytes += length;
    return { owned: true, bytes };
  }

  /**
   * Chooses the memory of the next read of a body. It depends on whether the receiver wants `more`, on the number of
   * bytes that it still holds (undefined if unknown), on the `announcedBytes` that have not arrived yet, and on the
   * room of the receiver (`roomBytes`; undefined for that of an ordinary read).
   */
  settle(announcedBytes: number, heldBytes: number | undefined, more: boolean, roomBytes?: number): void {
    // A receiver that paused has room again when it resumes.
    this.maxReadBytes = more ? Math.max(minReadBytes, roomBytes ?? ordinaryReadBytes) : ordinaryReadBytes;
    const keepsUp = heldBytes === undefined ? more && this.maxReadBytes >= minRoomBytes : heldBytes === 0;
    this.bulk = keepsUp && (this.bulk || this.sawFullRead || announcedBytes >= bulkBytes);
    if (heldBytes === 0) this.usedBytes = 0;
    this.isFree = false;
  }

  /** Chooses shared memory for the next read, for a receiver that keeps no reference to the bytes that it receives. */
  stayShared(more: boolean, roomBytes: number | undefined): void {
    this.maxReadBytes = more ? Math.max(minReadBytes, roomBytes ?? ordinaryReadBytes) : ordinaryReadBytes;
    this.bulk = false;
  }

  /** Whether reads use private memory instead of memory that is copied out immediately. */
  get isPrivate(): boolean {
    return this.slab !== shared;
  }

  /** Ends a body, of which the receiver still holds `heldBytes` (undefined if unknown). */
  reset(heldBytes: number | undefined): void {
    this.bulk = false;
    this.maxReadBytes = sharedReadBytes;
    this.isFree = heldBytes === 0;
  }

  /** Switches to shared memory, and keeps the private memory for other transfers if nothing refers to it. */
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
