import type { OnReadOpts } from "node:net";

/**
 * Bytes in memory that is read into again: they may be looked at, and written over, until the call that brought them
 * returns. The type is no `Buffer`, so that they cannot be handed on or kept without a copy (`Buffer.from`).
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

/** Connections that read little at a time share this memory: what they read is copied out in the same turn. */
const shared = Buffer.allocUnsafeSlow(65_536);

/** Most that one read brings, unless the receiver says that it has room for more. */
const ordinaryReadBytes = 65_536;
/** The room of a receiver that has proved to be fast: the most that one read can bring. */
export const fastReadBytes = 262_144;
/** Least that a read brings, however little room there is. */
const minReadBytes = 4096;
/** Private memory with less room than this is not read into again. */
const minRoomBytes = 16_384;
/** With at least this many bytes to come a body may become a bulk transfer. */
const bulkBytes = 65_536;

/** Private memory that no transfer uses, for the next ones, by its size; more is left to the collector. */
const spares = { ordinary: [] as Buffer[], fast: [] as Buffer[] };
const maxSpares = 16;

/**
 * Where a connection reads to. By default that is memory shared by all connections of the thread, copied out at
 * once. A large body whose receiver keeps up gets private memory, handed on without a copy and written again only
 * when the receiver holds nothing of it; a receiver that falls behind goes back to shared memory. No read brings more than
 * the receiver has room for, so that slow clients cost little (docs/features/upstream.md, "Memory").
 */
export class ReadBuffer {
  private bulk = false;
  private sawFullRead = false;
  private slab: Buffer = shared;
  private usedBytes = 0;
  private maxReadBytes = ordinaryReadBytes;

  /**
   * The `onread` of a socket that reads to here, for when it is created: the only place that sees memory which is not
   * read into. `receive` answers whether to read on; it says by `settle` or `reset` what became of the bytes.
   */
  onread(receive: (piece: Piece) => boolean): OnReadOpts {
    return {
      buffer: () => this.next(),
      callback: (length, into) => receive(this.pieceOf(into as Buffer, length)),
    };
  }

  /** The memory of the next read. */
  private next(): Buffer {
    const { maxReadBytes } = this;
    if (!this.bulk) {
      this.slab = shared;
      return maxReadBytes < shared.length ? shared.subarray(0, maxReadBytes) : shared;
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

  private pieceOf(memory: Buffer, length: number): Piece {
    this.sawFullRead = length === memory.length;
    const bytes = memory.subarray(0, length);
    if (this.slab === shared) return { owned: false, bytes };
    this.usedBytes += length;
    return { owned: true, bytes };
  }

  /**
   * Chooses the memory of the next read of a body by what became of the last one: whether the receiver wants
   * `more`, and how many bytes it still holds (undefined: it does not say). `announcedBytes` are yet to come, and the
   * receiver has room for `roomBytes` (undefined: an ordinary read).
   */
  settle(announcedBytes: number, heldBytes: number | undefined, more: boolean, roomBytes?: number): void {
    // A receiver that wanted no more has room again when it does.
    this.maxReadBytes = more ? Math.max(minReadBytes, roomBytes ?? ordinaryReadBytes) : ordinaryReadBytes;
    const keepsUp = heldBytes === undefined ? more && this.maxReadBytes >= minRoomBytes : heldBytes === 0;
    this.bulk = keepsUp && (this.bulk || this.sawFullRead || announcedBytes >= bulkBytes);
    if (heldBytes === 0) this.usedBytes = 0;
  }

  /** Nothing large is under way; the receiver still holds `heldBytes` of the last body (undefined: it does not say). */
  reset(heldBytes: number | undefined): void {
    this.bulk = false;
    this.maxReadBytes = ordinaryReadBytes;
    const { slab } = this;
    if (slab === shared) return;
    const free = slab.length === fastReadBytes ? spares.fast : spares.ordinary;
    if (heldBytes === 0 && free.length < maxSpares) free.push(slab);
    this.slab = shared;
  }
}
