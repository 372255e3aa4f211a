import { createTableMemory, SharedTable, type SharedTableMemory } from "../shared/shared-table.ts";

/** A request rate as GCRA counts it: one request per interval, and as much ahead of that as the capacity allows. */
export type Rate = {
  readonly intervalMs: number;
  /** How far ahead of the clock a client may get. */
  readonly capacityMs: number;
};

/** Where the requests of clients are counted. */
export type RateStore = {
  /**
   * Counts a request; 0 admits it, else it is not counted and the answer is how many milliseconds are to be waited.
   * `nowMs` is the clock that all users of the store share.
   */
  readonly take: (key: string, rate: Rate, nowMs: number) => number;
};

/** A clock of doubles is finer than this; without slack, sums of thirds would miss their capacity by a rounding error. */
const slackMs = 0.001;

/** Times are kept as nanoseconds in 64 bits. A capacity of 127 years leaves room for the clock. */
const maxCapacityMs = 4e12;
const nanosecondsPerMs = 1e6;

/** Words that a key needs: the generic cell rate algorithm keeps the time at which its next request is due. */
const values = 1;

/** Memory for the counts of at most so many keys. */
export const createRateMemory = (maxKeys: number): SharedTableMemory => createTableMemory(maxKeys, values);

/** Counts in memory that other workers may count in at the same time, so that a limit holds for all of them together. */
export function createRateStore(memory: SharedTableMemory): RateStore {
  const table = new SharedTable(memory, values);
  return {
    take(key, { intervalMs, capacityMs }, nowMs) {
      const at = table.find(key, nowMs);
      for (;;) {
        const due = Atomics.load(table.words, at);
        const arrivalMs = Math.max(Number(due) / nanosecondsPerMs, nowMs) + intervalMs;
        const waitMs = arrivalMs - nowMs - Math.min(capacityMs, maxCapacityMs);
        if (waitMs > slackMs) return waitMs;
        const next = BigInt(Math.round(arrivalMs * nanosecondsPerMs));
        if (Atomics.compareExchange(table.words, at, due, next) === due) return 0;
      }
    },
  };
}
