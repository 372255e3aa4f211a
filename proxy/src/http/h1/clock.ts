/**
 * The front's idea of time: refreshed once per sweep, so that a request costs no look at the real clock. A deadline
 * of `timeoutMs` from now must be `deadline(timeoutMs)`, which never comes early and at most two sweeps late.
 */
export class FrontClock {
  readonly sweepIntervalMs: number;
  /** Monotonic milliseconds at the last sweep. */
  nowMs = performance.now();

  constructor(sweepIntervalMs: number) {
    this.sweepIntervalMs = sweepIntervalMs;
  }

  refresh(): void {
    this.nowMs = performance.now();
  }

  /** The moment `timeoutMs` from now; never when the timeout is off (0). */
  deadline(timeoutMs: number): number {
    return timeoutMs === 0 ? Number.POSITIVE_INFINITY : this.nowMs + this.sweepIntervalMs + timeoutMs;
  }
}
