import type { SpanLine } from "../span-record.ts";

/** Sends a batch; resolves to a text that says why it could not. Never rejects. */
export type SendBatch = (batch: readonly SpanLine[]) => Promise<string | undefined>;

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
  private lines: SpanLine[] = [];
  private queued = 0;
  private timer: NodeJS.Timeout | undefined = undefined;
  private sending: Promise<void> | undefined = undefined;

  constructor(options: SpanQueueOptions) {
    this.options = options;
    this.gatherMs = options.gatherMs ?? 1_000;
    this.maxQueued = options.maxQueued ?? 8_192;
    this.maxBatch = options.maxBatch ?? 512;
  }

  add(line: SpanLine): void {
    const count = line.spans.length;
    if (this.queued + count > this.maxQueued) {
      this.options.onDropped(count, "queue-full", "too many spans wait for the collector");
      return;
    }
    this.lines.push(line);
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
      if (this.lines.length > 0) this.timer ??= setTimeout(() => this.start(), this.gatherMs).unref();
    });
  }

  /** Batches one after another, while there are whole ones; the first may be small. */
  private async sendAll(): Promise<void> {
    do {
      const batch = this.takeBatch();
      const count = countOf(batch);
      if (count === 0) return;
      const failure = await this.within(this.options.send(batch));
      if (failure === undefined) this.options.onExported(count);
      else this.options.onDropped(count, "export-failed", failure);
    } while (this.queued >= this.maxBatch);
  }

  private takeBatch(): readonly SpanLine[] {
    let count = 0;
    let taken = 0;
    for (const { spans } of this.lines) {
      if (taken > 0 && count + spans.length > this.maxBatch) break;
      count += spans.length;
      taken++;
    }
    this.queued -= count;
    return this.lines.splice(0, taken);
  }

  /** A collector that answers a little now and then must not hold the others up. */
  private async within(sent: Promise<string | undefined>): Promise<string | undefined> {
    const { timeoutMs } = this.options;
    const { promise: expired, resolve } = Promise.withResolvers<string>();
    const timer = setTimeout(() => resolve("the collector did not answer in time"), timeoutMs);
    const failure = await Promise.race([sent, expired]);
    clearTimeout(timer);
    return failure;
  }
}

const countOf = (lines: readonly SpanLine[]): number =>
  lines.reduce((sum, { spans }) => sum + spans.length, 0);
