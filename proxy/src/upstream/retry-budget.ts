/** The largest number of retries per request in the long run. */
const retriesPerRequest = 0.2;
/** Retries per second that are always allowed, so that a backend with few requests is retried too. */
const retriesPerSecond = 10;
/** The most retries that can be saved up, ten seconds' worth. */
const maxSaved = 100;

/**
 * Limits the retries towards one backend, so that retries do not make an outage worse. Every request adds a fifth of a
 * retry and every second adds ten: a token bucket after Finagle's RetryBudget (docs/features/retry.md, "The budget").
 * Times are milliseconds of a monotonic clock.
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

  /** Takes one retry from the budget; returns false if none is left. */
  withdraw(nowMs: number): boolean {
    const passedMs = nowMs - this.refilledAtMs;
    this.refilledAtMs = nowMs;
    this.saved = Math.min(maxSaved, this.saved + (passedMs * retriesPerSecond) / 1000);
    if (this.saved < 1) return false;
    this.saved--;
    return true;
  }
}
