/** The time and timers, replaceable in tests. */
export type Clock = {
  /** The time in milliseconds; its origin depends on the clock. */
  readonly nowMs: () => number;
  /** Runs the callback after the delay; the returned function cancels it. */
  readonly schedule: (delayMs: number, callback: () => void) => () => void;
};

/** The maximum delay of Node's timers, which fire immediately if it is exceeded. */
const maxDelayMs = 2 ** 31 - 1;

/** Runs the callback after the delay, or after 24 days if the delay is longer. */
function schedule(delayMs: number, callback: () => void): () => void {
  const timer = setTimeout(callback, Math.min(Math.max(delayMs, 0), maxDelayMs));
  return () => clearTimeout(timer);
}

/** The time of day, since the Unix epoch, as in certificates and on other machines. It can be set back. */
export const systemClock: Clock = { nowMs: () => Date.now(), schedule };

/** The time since the process began, for intervals. It never goes back. */
export const monotonicClock: Clock = { nowMs: () => performance.now(), schedule };

/** Waits on a clock. Resolves to true after the delay, or to false as soon as the signal aborts. */
export function sleep(
  clock: Pick<Clock, "schedule">,
  delayMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false);
  return new Promise((resolve) => {
    const onAbort = (): void => {
      cancel();
      resolve(false);
    };
    const cancel = clock.schedule(delayMs, () => {
      signal.removeEventListener("abort", onAbort);
      resolve(true);
    });
    signal.addEventListener("abort", onAbort, { once: true });
  });
}
