import type { Chunk } from "../../message/message.ts";

/** Shorter pieces are copied together. */
const minOwnBytes = 4096;
const minBlockBytes = 1024;
const maxBlockBytes = 16_384;

/**
 * Content that waits in its order. Who sends it may send single octets: small pieces are copied together, so that neither the
 * memory nor the work of a piece depends on how many there are.
 */
export class ContentQueue {
  private readonly pieces: Chunk[] = [];
  /** The last block of small pieces, and how much of it is used. */
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

  /** Takes the first piece out; undefined: there is none. */
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
