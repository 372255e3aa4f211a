/** A time and timers, replaceable in tests. */
export type Clock = {
  /** Milliseconds; each clock says since when. */
  readonly nowMs: () => number;
  /** Runs the callback after the delay; the returned function cancels it. */
  readonly schedule: (delayMs: number, callback: () => void) => () => void;
};

/** The longest delay that Node's timers take; they fire at once when it is exceeded. */
const maxDelayMs = 2 ** 31 - 1;

/** Delays beyond 24 days end after 24 days. */
function schedule(delayMs: number, callback: () => void): () => void {
  const timer = setTimeout(callback, Math.min(Math.max(delayMs, 0), maxDelayMs));
  return () => clearTimeout(timer);
}

/** Time of day, since the Unix epoch: as in certificates and on other machines. It may be set back. */
export const systemClock: Clock = { nowMs: () => Date.now(), schedule };

/** Time since the process began: for intervals. It only ever goes on. */
export const monotonicClock: Clock = { nowMs: () => performance.now(), schedule };

/** Waits on a clock. Resolves true after the delay, false as soon as the signal aborts. */
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
