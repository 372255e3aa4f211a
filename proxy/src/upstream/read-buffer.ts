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
 * What one read brought: a view that ends where the read ended, so that no search or conversion can reach what an earlier
 * read, of this connection or another, has left behind it. Bytes that are `owned` may be handed on as they are.
 */
export type Piece =
  { readonly owned: true; readonly bytes: Buffer } | { readonly owned: false; readonly bytes: BorrowedBytes };

/** Connections that read little at a time share this memory: what they read is copied out in the same turn. */
const shared = Buffer.allocUnsafeSlow(65_536);

/** Size of the private memory of a bulk transfer: the most that one read can bring. */
const slabBytes = 262_144;
/** Most of a slab that one read may fill when nobody says whether the bytes before have left. */
const carefulBytes = 131_072;
/** A slab with less room than this is not read into again. */
const minRoomBytes = 65_536;
/** With at least this many bytes to come a body may become a bulk transfer. */
const bulkBytes = 65_536;

/** Slabs that no transfer uses, for the next ones; more are left to the collector. */
const spares: Buffer[] = [];
const maxSpares = 16;

/**
 * Where a connection reads to. By default that is memory shared by all connections of the thread, copied out at
 * once. A large body whose receiver keeps up gets private memory, handed on without a copy and written again only
 * when the receiver holds nothing of it; a receiver that falls behind goes back to small reads, so that slow clients
 * cost little (docs/features/upstream.md, "Memory").
 */
export class ReadBuffer {
  private bulk = false;
  private sawFullRead = false;
  private slab: Buffer = shared;
  private usedBytes = 0;
  private maxReadBytes = slabBytes;

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
    if (!this.bulk) {
      this.slab = shared;
      return shared;
    }
    if (this.slab === shared || this.slab.length - this.usedBytes < minRoomBytes) {
      this.slab = spares.pop() ?? Buffer.allocUnsafeSlow(slabBytes);
      this.usedBytes = 0;
    }
    const end = Math.min(this.slab.length, this.usedBytes + this.maxReadBytes);
    return end - this.usedBytes === this.slab.length ? this.slab : this.slab.subarray(this.usedBytes, end);
  }

  private pieceOf(memory: Buffer, length: number): Piece {
    this.sawFullRead = length === memory.length;
    const bytes = memory.subarray(0, length);
    if (memory === shared) return { owned: false, bytes };
    this.usedBytes += length;
    return { owned: true, bytes };
  }

  /**
   * Chooses the memory of the next read of a body by what became of the last one: whether the receiver wants
   * `more`, and how many bytes it still holds (undefined: it does not say). `announcedBytes` are yet to come.
   */
  settle(announcedBytes: number, heldBytes: number | undefined, more: boolean): void {
    const keepsUp = heldBytes === undefined ? more : heldBytes === 0;
    this.bulk = keepsUp && (this.bulk || this.sawFullRead || announcedBytes >= bulkBytes);
    this.maxReadBytes = heldBytes === undefined ? carefulBytes : slabBytes;
    if (heldBytes === 0) this.usedBytes = 0;
  }

  /** Nothing large is under way; the receiver still holds `heldBytes` of the last body (undefined: it does not say). */
  reset(heldBytes: number | undefined): void {
    this.bulk = false;
    if (this.slab === shared) return;
    if (heldBytes === 0 && spares.length < maxSpares) spares.push(this.slab);
    this.slab = shared;
  }
}
