/** Lets a notification wake one waiter; a notification without a waiter is kept. */
export type WakeUp = {
  readonly notify: () => void;
  /** Waits for a notification for at most `maxMs` and returns whether one was received. An abort ends the wait. */
  wait(maxMs: number, signal: AbortSignal): Promise<boolean>;
};

export function createWakeUp(): WakeUp {
  let isNotified = false;
  let wake: () => void = () => undefined;
  return {
    notify() {
      isNotified = true;
      wake();
    },
    async wait(maxMs, signal) {
      if (!isNotified && !signal.aborted) {
        await new Promise<void>((resolve) => {
          const end = (): void => {
            clearTimeout(timer);
            signal.removeEventListener("abort", end);
            resolve();
          };
          const timer = setTimeout(end, maxMs);
          signal.addEventListener("abort", end, { once: true });
          wake = end;
        });
      }
      const wasNotified = isNotified;
      isNotified = false;
      return wasNotified;
    },
  };
}
