import type { Clock } from "@svc-gateway/common/time/clock.ts";

/** A clock that moves only on request. */
export type TestClock = Clock & {
  /** Moves on, running what is due in order and what follows from it. */
  advance(ms: number): Promise<void>;
};

/** Lets everything run that waits for no timer and no peer. */
export const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export function createTestClock(): TestClock {
  let nowMs = 0;
  const timers = new Set<{ readonly atMs: number; readonly callback: () => void }>();
  return {
    nowMs: () => nowMs,
    schedule(delayMs, callback) {
      const timer = { atMs: nowMs + delayMs, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    async advance(ms) {
      const endMs = nowMs + ms;
      await settle();
      for (;;) {
        const [due] = [...timers].filter(({ atMs }) => atMs <= endMs).sort((a, b) => a.atMs - b.atMs);
        if (due === undefined) break;
        timers.delete(due);
        nowMs = Math.max(nowMs, due.atMs);
        due.callback();
        await settle();
      }
      nowMs = endMs;
    },
  };
}
