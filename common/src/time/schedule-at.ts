import type { Clock } from "./clock.ts";

/** The maximum delay of a call after the clock was set forward, or the machine was suspended. */
const maxStepMs = 60_000;

/**
 * Calls back once, when a clock of the time of day reaches `atMs`; the returned function cancels it. Timers count only
 * the time during which the machine runs, and do not notice that the clock is set, so the clock is read again every
 * minute.
 */
export function scheduleAt(clock: Clock, atMs: number, callback: () => void): () => void {
  let cancel = (): void => {};
  const wait = (): void => {
    const leftMs = atMs - clock.nowMs();
    if (leftMs <= maxStepMs) cancel = clock.schedule(Math.max(0, leftMs), onDue);
    else cancel = clock.schedule(maxStepMs, wait);
  };
  // The clock can have been set back during the last step.
  const onDue = (): void => (clock.nowMs() < atMs ? wait() : callback());
  wait();
  return () => cancel();
}
