/** A request rate as GCRA counts it: one request per interval, and as much ahead of that as the capacity allows. */
export type Rate = {
  readonly intervalMs: number;
  /** How far ahead of the clock a client may get. */
  readonly capacityMs: number;
};

/** Where the requests of clients are counted. */
export type RateStore = {
  /** Counts a request; 0 admits it, else it is not counted and the answer is how many milliseconds are to be waited. */
  readonly take: (key: string, rate: Rate, nowMs: number) => number;
};

/** A clock of doubles is finer than this; without slack, sums of thirds would miss their capacity by a rounding error. */
const slackMs = 0.001;

type Count = { arrivalMs: number };

/**
 * Counts by the generic cell rate algorithm, of which a key needs one number: the time at which its next request is due.
 * At most `maxKeys` are remembered, in two halves. A full young half becomes the old one, whose keys are forgotten unless
 * they come again, so those used longest ago go first.
 */
export function createRateStore(maxKeys: number): RateStore {
  const half = Math.ceil(maxKeys / 2);
  let young = new Map<string, Count>();
  let old = new Map<string, Count>();
  const countOf = (key: string): Count => {
    const known = young.get(key);
    if (known !== undefined) return known;
    if (young.size >= half) {
      old = young;
      young = new Map();
    }
    const count = old.get(key) ?? { arrivalMs: 0 };
    young.set(key, count);
    return count;
  };
  return {
    take(key, { intervalMs, capacityMs }, nowMs) {
      const count = countOf(key);
      const arrivalMs = Math.max(count.arrivalMs, nowMs) + intervalMs;
      const waitMs = arrivalMs - nowMs - capacityMs;
      if (waitMs > slackMs) return waitMs;
      count.arrivalMs = arrivalMs;
      return 0;
    },
  };
}
