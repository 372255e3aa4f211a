import type { Clock } from "@svc-gateway/common/time/clock.ts";

type Timer = { readonly atMs: number; readonly callback: () => void };

/** The interval at which the clock is read, and the maximum that it then advances, in milliseconds. */
const turnMs = 5;
const longestTurnMs = 20;

/**
 * Returns a clock that does not count the time in which the machine did not run this process, so that no limit expires
 * meanwhile. It runs during each test of the describe block that calls this.
 */
export function useRunningClock(): Clock {
  const timers = new Set<Timer>();
  let nowMs = 0;
  let readAtMs = 0;
  let turns: NodeJS.Timeout;
  const read = (): number => {
    const atMs = performance.now();
    nowMs += Math.min(atMs - readAtMs, longestTurnMs);
    readAtMs = atMs;
    return nowMs;
  };
  const onTurn = (): void => {
    read();
    const due = [...timers].filter(({ atMs }) => atMs <= nowMs).toSorted((a, b) => a.atMs - b.atMs);
    for (const timer of due) if (timers.delete(timer)) timer.callback();
  };
  beforeEach(() => {
    readAtMs = performance.now();
    turns = setInterval(onTurn, turnMs);
  });
  afterEach(() => {
    clearInterval(turns);
    timers.clear();
  });
  return {
    nowMs: read,
    schedule(delayMs, callback) {
      const timer = { atMs: read() + delayMs, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
  };
}
