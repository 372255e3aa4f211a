import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "@svc-gateway/common/time/clock.ts";

/** A clock that is controlled by the test alone. */
export type ManualClock = Clock & {
  /** Sets the clock forward or back, as on a machine whose time is corrected. Timers keep the rest of their delays. */
  step(byMs: number): void;
  /** Advances the time, timer by timer; callbacks and the work that they start run before the next timer fires. */
  advance(byMs: number): Promise<void>;
  /** The number of waiting timers. */
  pending(): number;
};

type Timer = { readonly atMs: number; readonly callback: () => void };

export function createManualClock(startMs: number = Date.now()): ManualClock {
  const timers = new Set<Timer>();
  /** The time that timers count. */
  let nowMs = startMs;
  let steppedMs = 0;
  const nextDue = (endMs: number): Timer | undefined =>
    [...timers].filter(({ atMs }) => atMs <= endMs).sort((a, b) => a.atMs - b.atMs)[0];
  return {
    nowMs: () => nowMs + steppedMs,
    step: (byMs) => void (steppedMs += byMs),
    schedule(delayMs, callback) {
      const timer = { atMs: nowMs + Math.max(0, delayMs), callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    async advance(byMs) {
      const endMs = nowMs + byMs;
      for (let due = nextDue(endMs); due !== undefined; due = nextDue(endMs)) {
        timers.delete(due);
        nowMs = Math.max(nowMs, due.atMs);
        due.callback();
        await nextTurn();
      }
      nowMs = Math.max(nowMs, endMs);
      await nextTurn();
    },
    pending: () => timers.size,
  };
}
