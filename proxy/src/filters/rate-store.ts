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
/** A worker that loses the processor between its look at the clock and its count sees the others ahead by so much. */
const clockSkewMs = 100;

/** Times are kept as nanoseconds in 64 bits. A capacity of 127 years leaves room for the clock. */
const maxCapacityMs = 4e12;
const nanosecondsPerMs = 1e6;
const toNanoseconds = (ms: number): bigint => BigInt(Math.round(ms * nanosecondsPerMs));

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
      const fullMs = nowMs + Math.min(capacityMs, maxCapacityMs);
      for (;;) {
        const due = Atomics.load(table.words, at);
        const dueMs = Number(due) / nanosecondsPerMs;
        // Only a slower rate has led a client further ahead than this one can. It is gone, and so is the wait for it.
        const hasOldDebt = dueMs - fullMs > clockSkewMs;
        const arrivalMs = Math.max(hasOldDebt ? fullMs : dueMs, nowMs) + intervalMs;
        const waitMs = arrivalMs - fullMs;
        const isAdmitted = waitMs <= slackMs;
        if (!isAdmitted && !hasOldDebt) return waitMs;
        const next = toNanoseconds(isAdmitted ? arrivalMs : fullMs);
        if (Atomics.compareExchange(table.words, at, due, next) === due) return isAdmitted ? 0 : waitMs;
      }
    },
  };
}
