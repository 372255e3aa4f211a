/** Retries per request that a backend gets at most, in the long run. */
const retriesPerRequest = 0.2;
/** Retries per second that are always allowed, so that a backend with few requests is retried too. */
const retriesPerSecond = 10;
/** Retries that can be saved up: ten seconds' worth. */
const maxSaved = 100;

/**
 * Bounds the retries towards one backend, so that an outage is not made worse by its own retries: every request adds
 * a fifth of a retry, every second ten. A token bucket after Finagle's RetryBudget; see docs/features/retry.md, "The
 * budget". Times are milliseconds on a monotonic clock.
 */
export class RetryBudget {
  private saved = maxSaved;
  private refilledAtMs: number;

  constructor(nowMs: number) {
    this.refilledAtMs = nowMs;
  }

  /** Counts a request that may be retried. */
  deposit(): void {
    this.saved = Math.min(maxSaved, this.saved + retriesPerRequest);
  }

  /** Takes one retry; false when there is none left. */
  withdraw(nowMs: number): boolean {
    const passedMs = nowMs - this.refilledAtMs;
    this.refilledAtMs = nowMs;
    this.saved = Math.min(maxSaved, this.saved + (passedMs * retriesPerSecond) / 1000);
    if (this.saved < 1) return false;
    this.saved--;
    return true;
  }
}
