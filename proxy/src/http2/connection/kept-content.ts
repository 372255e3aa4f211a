import { Slabs } from "../../sockets/slabs.ts";

/** At most 8 MiB of a worker. */
const blocks = new Slabs(16_384, 512);

/**
 * Content that waits in its order, copied into memory that all connections of a worker use in turn: new memory for each piece would be
 * outside of V8's heap, which it then collects far too often. A block is one stream's until it has been taken out or dropped.
 */
export class KeptContent {
  bytes = 0;
  private readonly held: Buffer[] = [];
  /** Where the content begins in the first block, and ends in the last one. */
  private start = 0;
  private end = blocks.size;

  /** Copies `piece` from `from` on. */
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

  /** Moves at most `most` bytes, and answers how many. */
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
