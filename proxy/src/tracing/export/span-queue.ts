import type { EncodedSpans } from "../encoded-spans.ts";
import type { HeldSpans } from "./span-memory.ts";

/** The number of spans of a batch that the collector has not accepted, and why. */
export type Refused = { readonly spans: number; readonly why: string };

export const nothingRefused: Refused = { spans: 0, why: "" };

/** Sends a batch; resolves to the part that was not accepted. Never rejects. */
export type SendBatch = (batch: readonly EncodedSpans[]) => Promise<Refused>;

export type SpanQueueOptions = {
  readonly send: SendBatch;
  /** The time after which a batch is given up, in milliseconds. */
  readonly timeoutMs: number;
  readonly onExported: (spans: number) => void;
  readonly onDropped: (spans: number, why: "queue-full" | "export-failed", text: string) => void;
  /** How long a batch waits for more spans after the first one, in milliseconds. */
  readonly gatherMs?: number;
  readonly maxQueued?: number;
  readonly maxBatch?: number;
};

/**
 * The bounded queue of spans for the collector, which sends one batch at a time. Spans that exceed the bound, and those
 * of failed batches, are dropped and reported. No request waits for its spans.
 */
export class SpanQueue {
  private readonly options: SpanQueueOptions;
  private readonly gatherMs: number;
  private readonly maxQueued: number;
  private readonly maxBatch: number;
  private waiting: HeldSpans[] = [];
  private queued = 0;
  private timer: NodeJS.Timeout | undefined = undefined;
  private sending: Promise<void> | undefined = undefined;

  constructor(options: SpanQueueOptions) {
    this.options = options;
    this.gatherMs = options.gatherMs ?? 1_000;
    this.maxQueued = options.maxQueued ?? 8_192;
    this.maxBatch = options.maxBatch ?? 512;
  }

  /** Adds spans, and releases their memory when they have been sent or dropped. */
  add(spans: HeldSpans): void {
    const { count } = spans;
    if (this.queued + count > this.maxQueued) {
      spans.lease.release();
      this.options.onDropped(count, "queue-full", "too many spans wait for the collector");
      return;
    }
    this.waiting.push(spans);
    this.queued += count;
    if (this.queued >= this.maxBatch) this.start();
    else this.timer ??= setTimeout(() => this.start(), this.gatherMs).unref();
  }

  /** Sends the waiting spans; resolves when they have been sent or given up. */
  async drain(): Promise<void> {
    this.start();
    await this.sending;
  }

  private start(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.sending ??= this.sendAll().finally(() => {
      this.sending = undefined;
      if (this.waiting.length > 0) this.timer ??= setTimeout(() => this.start(), this.gatherMs).unref();
    });
  }

  /** Sends a batch of any size, then further ones sequentially while there are enough spans for a full batch. */
  private async sendAll(): Promise<void> {
    do {
      const batch = this.takeBatch();
      const count = countOf(batch);
      if (count === 0) return;
      const sent = this.options.send(batch);
      // Only when the call ends: a batch that was given up may still be read.
      void sent.finally(() => {
        for (const { lease } of batch) lease.release();
      });
      const refused = await this.within(count, sent);
      const lost = Math.min(refused.spans, count);
      if (lost < count) this.options.onExported(count - lost);
      if (lost > 0) this.options.onDropped(lost, "export-failed", refused.why);
    } while (this.queued >= this.maxBatch);
  }

  private takeBatch(): readonly HeldSpans[] {
    let count = 0;
    let taken = 0;
    for (const one of this.waiting) {
      if (taken > 0 && count + one.count > this.maxBatch) break;
      count += one.count;
      taken++;
    }
    this.queued -= count;
    return this.waiting.splice(0, taken);
  }

  /** Limits the time for a batch: a collector that keeps a call alive must not block the following batches. */
  private async within(spans: number, sent: Promise<Refused>): Promise<Refused> {
    const { timeoutMs } = this.options;
    const { promise: expired, resolve } = Promise.withResolvers<Refused>();
    const why = "the collector did not answer in time";
    const timer = setTimeout(() => resolve({ spans, why }), timeoutMs);
    const refused = await Promise.race([sent, expired]);
    clearTimeout(timer);
    return refused;
  }
}

/** The number of spans in a batch. */
export const countOf = (batch: readonly EncodedSpans[]): number =>
  batch.reduce((sum, { count }) => sum + count, 0);
