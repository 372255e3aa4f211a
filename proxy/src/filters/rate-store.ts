import type { ShareMemory } from "../shared/share-memory.ts";
import { milliseconds, ShareTable } from "../shared/share-table.ts";

/** A request rate in terms of GCRA: one request per interval, with requests ahead of that up to the capacity. */
export type Rate = {
  readonly intervalMs: number;
  /** How far a client may get ahead of the clock. */
  readonly capacityMs: number;
};

/** The counter of one limit. */
export type RateCounter = {
  /**
   * Counts a request. Returns 0 if it is admitted; otherwise it is not counted, and the result is the time to wait in
   * milliseconds. `nowMs` is read from the clock that all users of the store share.
   */
  readonly take: (key: string, rate: Rate, nowMs: number) => number;
  /** Uncounts a request that another limit has refused. */
  readonly giveBack: (key: string, rate: Rate, nowMs: number) => void;
};

/** The counters of all limits. Each namespace, and in it each limit, has space of its own. */
export type RateStore = {
  /** Returns the counter of a name. Counters of the same namespace and name share their counts. */
  readonly counter: (namespace: string, name: string) => RateCounter;
};

/** The tolerance for rounding errors, coarser than the clock: without it, sums of thirds would miss their capacity. */
const slackMs = 0.001;
/** How far other workers can get ahead of one that is preempted between reading the clock and counting. */
const clockSkewMs = 100;

/** About 127 years. Times are stored as nanoseconds in 64 bits, and this capacity leaves room for the clock. */
const maxCapacityMs = 4e12;

/** Creates a store with counts in memory that all workers share, so that a limit applies to all workers together. */
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
            // Only a slower rate, since replaced, can have put a client this far ahead. When it was replaced is not
            // known, so the client may have waited long enough: it is admitted, and has then exhausted the new rate.
            const hasOldDebt = dueMs - fullMs > clockSkewMs;
            const arrivalMs = hasOldDebt ? fullMs : Math.max(dueMs, nowMs) + intervalMs;
            const waitMs = arrivalMs - fullMs;
            if (waitMs > slackMs) return waitMs;
            if (table.replace(at, due, arrivalMs)) return 0;
          }
        },
        giveBack(key, { intervalMs }, nowMs) {
          const at = table.find(owner, key, nowMs);
          for (;;) {
            const due = Atomics.load(table.words, at);
            const earlierMs = milliseconds(due) - intervalMs;
            // If the entry was evicted meanwhile, it is now that of an idle client or of another client.
            if (milliseconds(due) <= nowMs || table.replace(at, due, Math.max(0, earlierMs))) return;
          }
        },
      };
    },
  };
}
