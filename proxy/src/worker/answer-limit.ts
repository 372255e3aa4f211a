import { AwakeTimer } from "../timing/awake-timer.ts";
import { momentMs, mostLimits } from "./hang-watch.ts";

/**
 * The time limit for an answer of a worker, on the awake clock. Time for which its thread waits for a processor does
 * not count, as in `HangWatch`: on an overloaded node a worker is slow, and its replacement would start the same work
 * again. After six times the limit it expires in any case.
 */
export class AnswerLimit {
  private readonly expired: () => void;
  private readonly limitMs: number;
  private readonly processorWait: () => number | undefined;
  private timer: AwakeTimer;
  private waitedMs: number | undefined;
  /** The time by which the limit has been extended so far, in milliseconds. */
  private addedMs = 0;

  /**
   * `processorWait` returns the time for which the thread has waited for a processor since its start, in milliseconds;
   * undefined if it is not known. It is not called for answers within `momentMs`, so that they cost nothing.
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

  /** Stops the limit, because the answer has arrived. */
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
