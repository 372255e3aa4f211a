/** Monotonic time and timers, replaceable in tests. */
export type Clock = {
  readonly nowMs: () => number;
  /** Runs the callback after the delay; the returned function cancels it. */
  readonly schedule: (delayMs: number, callback: () => void) => () => void;
};

export const systemClock: Clock = {
  nowMs: () => performance.now(),
  schedule: (delayMs, callback) => {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};
