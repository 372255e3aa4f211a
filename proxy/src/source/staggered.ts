import { ok, fail, type Result } from "@svc-gateway/common/values/result.ts";
import type { Clock } from "@svc-gateway/common/time/clock.ts";
import { maxAddresses } from "./addresses.ts";

/** Makes one attempt, which must end soon after the signal aborts. */
export type Attempt<Value, Failure> = (signal: AbortSignal) => Promise<Result<Value, Failure>>;

/** Calls back with additional attempts that have become possible, until the returned function is called. */
export type LateAttempts<Value, Failure> = (
  add: (attempts: readonly Attempt<Value, Failure>[]) => void,
) => () => void;

/**
 * Starts attempts in order. The next one starts when one has failed or `staggerMs` have passed, so that an address that
 * drops packets does not delay the others. Attempts that become possible meanwhile start before the remaining ones; at
 * most `maxAddresses` are made. The first success is the result; the other attempts are aborted, and a late success is
 * passed to `discard`. Without a success, returns all failures in the order of the attempts.
 */
export function firstSuccess<Value, Failure>(
  attempts: readonly Attempt<Value, Failure>[],
  options: {
    readonly staggerMs: number;
    readonly clock: Clock;
    readonly signal: AbortSignal;
    readonly discard: (value: Value) => void;
    readonly lateAttempts: LateAttempts<Value, Failure>;
  },
): Promise<Result<Value, readonly Failure[]>> {
  const { staggerMs, clock, signal, discard, lateAttempts } = options;
  const all = attempts.slice(0, maxAddresses);
  const abort = new AbortController();
  const combined = AbortSignal.any([signal, abort.signal]);
  const failures = new Map<number, Failure>();
  return new Promise((resolve) => {
    let next = 0;
    let isSettled = false;
    let cancelTimer = (): void => {};
    let unsubscribe = (): void => {};

    const settle = (result: Result<Value, readonly Failure[]>): void => {
      isSettled = true;
      cancelTimer();
      unsubscribe();
      abort.abort();
      resolve(result);
    };

    const onResult = (index: number, result: Result<Value, Failure>): void => {
      if (isSettled) {
        if (result.ok) discard(result.value);
        return;
      }
      if (result.ok) return settle(ok(result.value));
      failures.set(index, result.error);
      if (failures.size < all.length) return startNext();
      settle(fail(inOrder(failures)));
    };

    const startNext = (): void => {
      cancelTimer();
      const index = next;
      const attempt = all[index];
      if (attempt === undefined) return;
      next += 1;
      void attempt(combined).then((result) => onResult(index, result));
      if (next < all.length) cancelTimer = clock.schedule(staggerMs, startNext);
    };

    if (all.length === 0) return settle(fail([]));
    unsubscribe = lateAttempts((added) => {
      all.splice(next, 0, ...added.slice(0, maxAddresses - all.length));
      startNext();
    });
    startNext();
  });
}

function inOrder<Failure>(failures: ReadonlyMap<number, Failure>): readonly Failure[] {
  return [...failures].sort(([a], [b]) => a - b).map(([, failure]) => failure);
}
