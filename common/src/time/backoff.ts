/** A wait after failures in a row: it doubles with each of them up to a bound. */
export type Backoff = {
  /** After the first failure. */
  readonly firstMs: number;
  readonly maxMs: number;
  /**
   * From where to the full length the wait is drawn, so that clients that failed together do not return together: `full`
   * from zero, `half` from half of the length, `above-first` from the length after the first failure. Absent: it is the
   * full length.
   */
  readonly jitter?: "full" | "half" | "above-first";
};

/** Doublings beyond any bound; a wait of zero stays one. */
const maxDoublings = 40;

/** The wait in milliseconds after this many failures in a row, 1 or more. `random` gives a number from 0 to 1, 1 excluded. */
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
