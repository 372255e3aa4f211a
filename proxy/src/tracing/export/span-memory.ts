import { decodeRecords, type EncodedSpans } from "../encoded-spans.ts";

/** Releases one entry of a block of memory, which is reused when all its entries are released. */
export type Lease = { release(): void };

/** Waiting spans, whose memory is reserved until they release it. */
export type HeldSpans = EncodedSpans & { readonly lease: Lease };

/** The amount that a ring delivers per interval of `span-export.ts` at some thousand requests per second. */
const blockBytes = 256 * 1024;
/** The maximum number of blocks kept for reuse; a block is at most as large as a ring. */
const maxSpare = 4;

/**
 * Copies spans out of the rings of workers into reusable memory. Allocating new memory outside of the heap for each of
 * them would cause garbage collections in the main thread, as it would for log lines (docs/adr/0022-bunyan.md).
 */
export class SpanMemory {
  private readonly spare: Buffer[] = [];

  /** Copies the spans of whole records; `records` may change afterwards. */
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
