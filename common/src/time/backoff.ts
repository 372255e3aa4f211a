/** The wait after consecutive failures: it doubles with each of them up to a maximum. */
export type Backoff = {
  /** The wait after the first failure. */
  readonly firstMs: number;
  readonly maxMs: number;
  /**
   * The minimum from which the wait is drawn at random, up to its full length, so that clients that failed together do
   * not return together: `full` from zero, `half` from half of the length, `above-first` from the wait after the first
   * failure. If absent, the wait has its full length.
   */
  readonly jitter?: "full" | "half" | "above-first";
};

/** A number of doublings that exceeds every maximum; a wait of zero remains zero. */
const maxDoublings = 40;

/**
 * Returns the wait in milliseconds after this number of consecutive failures, 1 or more. `random` returns a number from
 * 0 (inclusive) to 1 (exclusive).
 */
export function backoffMs(backoff: Backoff, failures: number, random: () => number = Math.random): number {
  const { firstMs, maxMs, jitter } = backoff;
  const lengthMs = Math.min(maxMs, firstMs * 2 ** Math.min(failures - 1, maxDoublings));
  switch (jitter) {
    case "full":
      return random() * lengthMs;
    case "half":
      return lengthMs * (0.5 + random() / 2);
    case "above-first":
      return firstMs + random() * (lengthMs - firstMs);
    default:
      return lengthMs;
  }
}
