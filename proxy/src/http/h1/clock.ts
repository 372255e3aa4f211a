import { awake } from "../../timing/awake-clock.ts";

/**
 * The front's idea of time: refreshed once per sweep, so that a request costs no look at the real clock. A deadline
 * of `timeoutMs` from now must be `deadline(timeoutMs)`, which never comes early and at most two sweeps late.
 */
export class FrontClock {
  readonly sweepIntervalMs: number;
  /** Milliseconds of the awake clock at the last sweep. */
  nowMs = awake.nowMs;

  constructor(sweepIntervalMs: number) {
    this.sweepIntervalMs = sweepIntervalMs;
  }

  refresh(): void {
    awake.look();
    this.nowMs = awake.nowMs;
  }

  /** The moment `timeoutMs` from now, of which some have passed already; never when the timeout is off (0). */
  deadline(timeoutMs: number, spentMs = 0): number {
    if (timeoutMs === 0) return Number.POSITIVE_INFINITY;
    return this.nowMs + this.sweepIntervalMs + Math.max(0, timeoutMs - spentMs);
  }
}
