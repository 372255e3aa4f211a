import { awake } from "../timing/awake-clock.ts";

/** A gap is noticed at most this much late, in milliseconds. */
const sweepMs = 100;

/** A wait that a sweep ends when it has lasted too long. */
export type SweptWait = {
  /** Its place among the waits, theirs to keep; negative: it has none. */
  sweepIndex: number;
  check(nowMs: number): void;
};

/**
 * Checks the gaps of all attempts that have such limits, instead of a timer that every piece would move. It runs only while
 * there are any: it stops with the first sweep that finds none.
 */
export class GapSweep {
  private readonly entries: SweptWait[] = [];
  private timer: NodeJS.Timeout | undefined = undefined;

  /** The clock that gaps are measured with. */
  get nowMs(): number {
    return awake.nowMs;
  }

  /** Adds an attempt; harmless when it is there. */
  add(gaps: SweptWait): void {
    if (gaps.sweepIndex >= 0) return;
    gaps.sweepIndex = this.entries.push(gaps) - 1;
    this.timer ??= setInterval(() => this.sweep(), sweepMs).unref();
  }

  /** Removes an attempt; harmless when it is not there. */
  delete(gaps: SweptWait): void {
    const index = gaps.sweepIndex;
    if (index < 0) return;
    gaps.sweepIndex = -1;
    const last = this.entries.pop();
    if (last === undefined || last === gaps) return;
    this.entries[index] = last;
    last.sweepIndex = index;
  }

  stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  /** Ends the attempts that have waited too long. */
  sweep(): void {
    if (this.entries.length === 0) return this.stop();
    awake.look();
    const { nowMs } = this;
    // From the end: the attempt that takes the place of an expired one has been checked already.
    for (let i = this.entries.length - 1; i >= 0; i--) this.entries[i]?.check(nowMs);
  }
}
