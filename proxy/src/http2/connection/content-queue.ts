import type { Chunk } from "../../message/message.ts";

/** The length from which a piece is kept without a copy. */
const minOwnBytes = 4096;
const minBlockBytes = 1024;
const maxBlockBytes = 16_384;

/**
 * A queue of waiting content. A sender may write single octets, so small pieces are copied into common blocks: neither
 * the memory nor the work per piece depends on the number of pieces.
 */
export class ContentQueue {
  private readonly pieces: Chunk[] = [];
  /** The last block of small pieces, and the used bytes in it. */
  private block: Buffer | undefined = undefined;
  private blockHas = 0;
  private bytes = 0;

  add(chunk: Chunk): void {
    const { length } = chunk;
    this.bytes += length;
    if (length >= minOwnBytes) {
      this.closeBlock();
      this.pieces.push(chunk);
      return;
    }
    const block = this.blockFor(length);
    if (typeof chunk === "string") block.write(chunk, this.blockHas, "latin1");
    else chunk.copy(block, this.blockHas);
    this.blockHas += length;
  }

  /** Removes and returns the first piece; undefined if there is none. */
  shift(): Chunk | undefined {
    if (this.pieces.length === 0) this.closeBlock();
    const first = this.pieces.shift();
    if (first !== undefined) this.bytes -= first.length;
    return first;
  }

  private blockFor(length: number): Buffer {
    const { block } = this;
    if (block !== undefined && this.blockHas + length <= block.length) return block;
    this.closeBlock();
    const size = Math.max(minBlockBytes, length, Math.min(maxBlockBytes, this.bytes));
    const next = Buffer.allocUnsafeSlow(size);
    this.block = next;
    return next;
  }

  private closeBlock(): void {
    if (this.block !== undefined) this.pieces.push(this.block.subarray(0, this.blockHas));
    this.block = undefined;
    this.blockHas = 0;
  }
}
