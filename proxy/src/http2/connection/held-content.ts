const minBlockBytes = 1024;
const maxBlockBytes = 16_384;

/** Unread content, copied into common blocks, so that small pieces use little more memory than their length. */
export class HeldContent {
  bytes = 0;
  private blocks: Buffer[] = [];
  /** The used bytes of the last block. */
  private lastHas = 0;

  add(piece: Buffer): void {
    let from = 0;
    const last = this.blocks.at(-1);
    if (last !== undefined && this.lastHas < last.length) {
      from = piece.copy(last, this.lastHas);
      this.lastHas += from;
    }
    const left = piece.length - from;
    if (left > 0) {
      const size = Math.max(left, Math.min(maxBlockBytes, Math.max(minBlockBytes, this.bytes)));
      const block = Buffer.allocUnsafeSlow(size);
      piece.copy(block, 0, from);
      this.blocks.push(block);
      this.lastHas = left;
    }
    this.bytes += piece.length;
  }

  /** Removes and returns the first block, which then belongs to the caller. There must be one. */
  take(): Buffer {
    const first = this.blocks.shift() as Buffer;
    const block = this.blocks.length === 0 ? first.subarray(0, this.lastHas) : first;
    this.bytes -= block.length;
    return block;
  }

  /** Drops everything, and returns the number of bytes. */
  drop(): number {
    const { bytes } = this;
    this.bytes = 0;
    this.blocks = [];
    this.lastHas = 0;
    return bytes;
  }
}
