import type { Clock } from "@svc-gateway/common/time/clock.ts";

/** A clock that moves only on request. */
export type TestClock = Clock & {
  /** Advances the time, and runs the timers that become due in order, with the work that results from them. */
  advance(ms: number): Promise<void>;
};

/** Runs all work that does not wait for a timer or a peer. */
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
