import type { EncodedSpans } from "../encoded-spans.ts";
import type { HeldSpans } from "./span-memory.ts";

/** The spans of a batch that the collector has not taken, and why. */
export type Refused = { readonly spans: number; readonly why: string };

export const nothingRefused: Refused = { spans: 0, why: "" };

/** Sends a batch; resolves to what of it was not taken. Never rejects. */
export type SendBatch = (batch: readonly EncodedSpans[]) => Promise<Refused>;

export type SpanQueueOptions = {
  readonly send: SendBatch;
  /** How long a batch may take until it is given up, in milliseconds. */
  readonly timeoutMs: number;
  readonly onExported: (spans: number) => void;
  readonly onDropped: (spans: number, why: "queue-full" | "export-failed", text: string) => void;
  /** How long spans gather after the first one, in milliseconds. */
  readonly gatherMs?: number;
  readonly maxQueued?: number;
  readonly maxBatch?: number;
};

/**
 * The spans that wait for the collector: bounded, sent in batches, one batch at a time. Spans that find no room, and those of
 * batches that fail, are dropped and reported; nothing waits for any of them.
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

  /** Takes spans, and releases their memory when they have been sent or dropped. */
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

  /** Sends what waits; resolves when it has been sent, or given up. */
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

  /** Batches one after another, while there are whole ones; the first may be small. */
  private async sendAll(): Promise<void> {
    do {
      const batch = this.takeBatch();
      const count = countOf(batch);
      if (count === 0) return;
      const sent = this.options.send(batch);
      // One that is given up may still read them.
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

  /** A collector that answers a little now and then must not hold the others up. */
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

/** The spans of a batch. */
export const countOf = (batch: readonly EncodedSpans[]): number =>
  batch.reduce((sum, { count }) => sum + count, 0);
