import { decodeRecords, type EncodedSpans } from "../encoded-spans.ts";

/** The memory of spans, which may be used again when each of them has been released. */
export type Lease = { release(): void };

/** Spans that wait, in memory that is theirs until they release it. */
export type HeldSpans = EncodedSpans & { readonly lease: Lease };

/** What a ring brings within the time in which spans gather, with some thousand requests a second. */
const blockBytes = 256 * 1024;
/** Blocks that are kept for the next spans; a block is at most as large as a ring. */
const maxSpare = 4;

/**
 * Copies spans out of the rings of workers, into memory that is used again. New memory for all of them is outside of the heap, and
 * would have the collector of the main thread run for nothing else, as new memory for log lines would (docs/adr/0022-bunyan.md).
 */
export class SpanMemory {
  private readonly spare: Buffer[] = [];

  /** The spans of whole records, which may change afterwards. */
  copy(records: Uint8Array): readonly HeldSpans[] {
    const block = this.take(records.length);
    block.set(records);
    let held = 0;
    const lease: Lease = {
      release: () => {
        held--;
        if (held === 0 && this.spare.length < maxSpare) this.spare.push(block);
      },
    };
    const spans = Array.from(decodeRecords(block.subarray(0, records.length)), (one): HeldSpans => ({
      ...one,
      lease,
    }));
    held = spans.length;
    return spans;
  }

  private take(bytes: number): Buffer {
    const at = this.spare.findIndex((block) => block.length >= bytes);
    const [block] = at < 0 ? [] : this.spare.splice(at, 1);
    return block ?? Buffer.allocUnsafeSlow(Math.ceil(Math.max(bytes, 1) / blockBytes) * blockBytes);
  }
}
