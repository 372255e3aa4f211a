import { AwakeTimer } from "../timing/awake-timer.ts";
import { momentMs, mostLimits } from "./hang-watch.ts";

/**
 * The limit for an answer of a worker, on the awake clock. What its thread waits for a processor does not count, as in `HangWatch`: on
 * a node that is too busy a worker is slow, and replacing it would begin its work again. After six times the limit it expires anyway.
 */
export class AnswerLimit {
  private readonly expired: () => void;
  private readonly limitMs: number;
  private readonly processorWait: () => number | undefined;
  private timer: AwakeTimer;
  private waitedMs: number | undefined;
  /** Milliseconds that were added to the limit. */
  private addedMs = 0;

  /**
   * `processorWait`: milliseconds for which the thread has waited since its start; undefined where that is not known. It is asked
   * once the answer has been due for a moment, so that the usual answer costs nothing.
   */
  constructor(expired: () => void, limitMs: number, processorWait: () => number | undefined) {
    this.expired = expired;
    this.limitMs = limitMs;
    this.processorWait = processorWait;
    const firstMs = Math.min(momentMs, limitMs / 2);
    this.timer = new AwakeTimer(() => {
      this.waitedMs = processorWait();
      this.timer = new AwakeTimer(this.onDue, limitMs - firstMs);
    }, firstMs);
  }

  /** The answer has come. */
  clear(): void {
    this.timer.clear();
  }

  private readonly onDue = (): void => {
    const before = this.waitedMs;
    this.waitedMs = this.processorWait() ?? before;
    const waitedMs = Math.min(
      (this.waitedMs ?? 0) - (before ?? 0),
      this.limitMs * (mostLimits - 1) - this.addedMs,
    );
    if (before === undefined || waitedMs < 1) return this.expired();
    this.addedMs += waitedMs;
    this.timer = new AwakeTimer(this.onDue, waitedMs);
  };
}
