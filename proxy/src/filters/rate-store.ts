import type { ShareMemory } from "../shared/share-memory.ts";
import { milliseconds, ShareTable } from "../shared/share-table.ts";

/** A request rate as GCRA counts it: one request per interval, and as much ahead of that as the capacity allows. */
export type Rate = {
  readonly intervalMs: number;
  /** How far ahead of the clock a client may get. */
  readonly capacityMs: number;
};

/** The counter of one limit. */
export type RateCounter = {
  /**
   * Counts a request; 0 admits it, else it is not counted and the result is the number of milliseconds to wait.
   * `nowMs` is the clock that all users of the store share.
   */
  readonly take: (key: string, rate: Rate, nowMs: number) => number;
  /** Takes back a request that was counted, because another limit has refused it. */
  readonly giveBack: (key: string, rate: Rate, nowMs: number) => void;
};

/** The counters of all limits. Each namespace, and in it each limit, has space of its own. */
export type RateStore = {
  /** Counters of one name count together. */
  readonly counter: (namespace: string, name: string) => RateCounter;
};

/** A clock of doubles is finer than this; without slack, sums of thirds would miss their capacity by a rounding error. */
const slackMs = 0.001;
/** How far other workers can be ahead of one that loses the processor between reading the clock and counting. */
const clockSkewMs = 100;

/** Times are kept as nanoseconds in 64 bits: a capacity of 127 years leaves room for the clock. */
const maxCapacityMs = 4e12;

/** Counts in memory that all workers share, so that a limit holds for all of them together. */
export function createRateStore(memory: ShareMemory): RateStore {
  const table = new ShareTable(memory);
  return {
    counter(namespace, name) {
      const owner = table.owner(namespace, name);
      return {
        take(key, { intervalMs, capacityMs }, nowMs) {
          const at = table.find(owner, key, nowMs);
          const fullMs = nowMs + Math.min(capacityMs, maxCapacityMs);
          for (;;) {
            const due = Atomics.load(table.words, at);
            const dueMs = milliseconds(due);
            // Only a slower rate, since replaced, can have put a client further ahead than this one: its wait is dropped.
            const hasOldDebt = dueMs - fullMs > clockSkewMs;
            const arrivalMs = Math.max(hasOldDebt ? fullMs : dueMs, nowMs) + intervalMs;
            const waitMs = arrivalMs - fullMs;
            const isAdmitted = waitMs <= slackMs;
            if (!isAdmitted && !hasOldDebt) return waitMs;
            if (table.replace(at, due, isAdmitted ? arrivalMs : fullMs)) return isAdmitted ? 0 : waitMs;
          }
        },
        giveBack(key, { intervalMs }, nowMs) {
          const at = table.find(owner, key, nowMs);
          for (;;) {
            const due = Atomics.load(table.words, at);
            const earlierMs = milliseconds(due) - intervalMs;
            // An entry that was evicted meanwhile is that of an idle client, or of another one.
            if (milliseconds(due) <= nowMs || table.replace(at, due, Math.max(0, earlierMs))) return;
          }
        },
      };
    },
  };
}
