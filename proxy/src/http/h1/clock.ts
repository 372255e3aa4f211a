import { awake } from "../../timing/awake-clock.ts";

/**
 * The clock of a front, refreshed once per sweep, so that requests do not have to read the real clock. A deadline
 * `timeoutMs` from now must be computed by `deadline(timeoutMs)`; it never expires early, and at most two sweeps late.
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

  /** Returns the time `timeoutMs` from now, less the `spentMs` already passed; infinite if the timeout is off (0). */
  deadline(timeoutMs: number, spentMs = 0): number {
    if (timeoutMs === 0) return Number.POSITIVE_INFINITY;
    return this.nowMs + this.sweepIntervalMs + Math.max(0, timeoutMs - spentMs);
  }
}
