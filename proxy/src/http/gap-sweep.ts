import { awake } from "../timing/awake-clock.ts";

/** The interval of sweeps in milliseconds: an exceeded limit is noticed at most this much later. */
const sweepMs = 100;

/** A wait that the sweep ends if it has lasted too long. */
export type SweptWait = {
  /** The index in `GapSweep`, which alone sets it; negative if the wait is not in it. */
  sweepIndex: number;
  check(nowMs: number): void;
};

/**
 * Checks the gaps of all attempts that have such limits, which replaces a timer that every piece would have to reset.
 * It runs only while there are such attempts, and stops with the first sweep that finds none.
 */
export class GapSweep {
  private readonly entries: SweptWait[] = [];
  private timer: NodeJS.Timeout | undefined = undefined;

  /** The clock that gaps are measured with. */
  get nowMs(): number {
    return awake.nowMs;
  }

  /** Adds an attempt; has no effect if it is already included. */
  add(gaps: SweptWait): void {
    if (gaps.sweepIndex >= 0) return;
    gaps.sweepIndex = this.entries.push(gaps) - 1;
    this.timer ??= setInterval(() => this.sweep(), sweepMs).unref();
  }

  /** Removes an attempt; has no effect if it is not included. */
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
    // Iterate from the end: the attempt that is moved to the index of an expired one has already been checked.
    for (let i = this.entries.length - 1; i >= 0; i--) this.entries[i]?.check(nowMs);
  }
}
