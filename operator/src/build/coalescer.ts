/**
 * Combines any number of changes into few builds (docs/architecture.md, "Level, not event"): a change after a quiet
 * time is built immediately, builds start at least an interval apart, at most one runs and at most one waits.
 */
import { monotonicClock, type Clock } from "@svc-gateway/common/time/clock.ts";

export type Coalescer = {
  /** Records a change: a build that starts after this call will happen. */
  markDirty(): void;
  /** Resolves when no build runs or waits. */
  idle(): Promise<void>;
  /** Prevents further builds; resolves when the running one, if any, has ended. */
  stop(): Promise<void>;
};

export type CoalescerOptions = {
  /** Builds from the state at the time of the call. */
  readonly build: () => void | Promise<void>;
  /** The shortest time between the starts of two builds. */
  readonly minIntervalMs: number;
  /** Called when a build throws, which is a bug; the next change is built nevertheless. */
  readonly onBug: (error: unknown) => void;
  readonly clock?: Clock;
};

export function createCoalescer(options: CoalescerOptions): Coalescer {
  const { build, minIntervalMs, onBug, clock = monotonicClock } = options;
  let isWanted = false;
  let isRunning = false;
  let isStopped = false;
  let lastStartMs = Number.NEGATIVE_INFINITY;
  let cancelTimer: (() => void) | undefined;
  let waiters: (() => void)[] = [];

  const settle = (): void => {
    const settled = waiters;
    waiters = [];
    for (const resolve of settled) resolve();
  };

  const plan = (): void => {
    if (!isWanted) return settle();
    if (isRunning || cancelTimer !== undefined) return;
    // A build never starts synchronously, because the caller may be in the middle of a group of changes.
    const delayMs = Math.max(0, lastStartMs + minIntervalMs - clock.nowMs());
    cancelTimer = clock.schedule(delayMs, () => {
      cancelTimer = undefined;
      void run();
    });
  };

  const run = async (): Promise<void> => {
    isWanted = false;
    isRunning = true;
    lastStartMs = clock.nowMs();
    try {
      await build();
    } catch (error) {
      onBug(error);
    }
    isRunning = false;
    plan();
  };

  const idle = (): Promise<void> =>
    isRunning || isWanted ? new Promise((resolve) => waiters.push(resolve)) : Promise.resolve();

  return {
    markDirty() {
      if (isStopped) return;
      isWanted = true;
      plan();
    },
    idle,
    stop() {
      isStopped = true;
      isWanted = false;
      cancelTimer?.();
      cancelTimer = undefined;
      if (!isRunning) settle();
      return idle();
    },
  };
}
