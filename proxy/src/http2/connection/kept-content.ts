import { Slabs } from "../../sockets/slabs.ts";

/** Reused memory, of which a worker keeps at most 8 MiB unused. */
const blocks = new Slabs(16_384, 512);

/**
 * A queue of waiting content, copied into memory that all connections of a worker reuse. New memory for each piece
 * would be outside of V8's heap, which makes V8 collect garbage far too often. A block belongs to one stream until it
 * has been read or dropped.
 */
export class KeptContent {
  bytes = 0;
  private readonly held: Buffer[] = [];
  /** The start of the content in the first block, and its end in the last one. */
  private start = 0;
  private end = blocks.size;

  /** Adds a copy of `piece` from index `from` on. */
  add(piece: Buffer, from: number): void {
    const { held } = this;
    this.bytes += piece.length - from;
    for (let at = from; at < piece.length;) {
      if (this.end === blocks.size) {
        held.push(blocks.take());
        this.end = 0;
      }
      const length = piece.copy(held.at(-1) as Buffer, this.end, at);
      this.end += length;
      at += length;
    }
  }

  /** Moves at most `most` bytes to `into`, and returns how many. */
  take(into: Buffer, at: number, most: number): number {
    const { held, start } = this;
    const length = Math.min(most, this.bytes, blocks.size - start);
    if (length === 0) return 0;
    (held[0] as Buffer).copy(into, at, start, start + length);
    this.bytes -= length;
    this.start += length;
    if (this.bytes === 0) this.drop();
    else if (this.start === blocks.size) {
      blocks.giveBack(held.shift() as Buffer);
      this.start = 0;
    }
    return length;
  }

  drop(): void {
    for (const block of this.held) blocks.giveBack(block);
    this.held.length = 0;
    this.bytes = 0;
    this.start = 0;
    this.end = blocks.size;
  }
}
