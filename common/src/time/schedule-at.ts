import type { Clock } from "./clock.ts";

/** How late a call may come after the clock was set forward, or the machine was suspended. */
const maxStepMs = 60_000;

/**
 * Calls back when a clock of the day shows `atMs`, once; the returned function cancels it. Timers count only the time for which
 * the machine runs and follow no clock that is set, so the clock is read again every minute.
 */
export function scheduleAt(clock: Clock, atMs: number, callback: () => void): () => void {
  let cancel = (): void => {};
  const wait = (): void => {
    const leftMs = atMs - clock.nowMs();
    if (leftMs <= maxStepMs) cancel = clock.schedule(Math.max(0, leftMs), onDue);
    else cancel = clock.schedule(maxStepMs, wait);
  };
  // The clock may have been set back during the last step.
  const onDue = (): void => (clock.nowMs() < atMs ? wait() : callback());
  wait();
  return () => cancel();
}
