import { backoffMs, type Backoff } from "@svc-gateway/common/time/backoff.ts";
import { monotonicClock, type Clock } from "@svc-gateway/common/time/clock.ts";
import { fail, type Result } from "@svc-gateway/common/values/result.ts";
import { createTurns } from "./turns.ts";

/**
 * A queue of keys to be processed. A key represents an object to reconcile, so adding it twice has the same effect as
 * once.
 */
export type WorkQueue = {
  /**
   * Ensures that the key is processed at least once from now on: immediately if there is room, or after the running
   * pass if it is being processed. A wait after a failure ends, but the failures stay counted.
   */
  add(key: string): void;
  /** The number of keys that are queued, wait for another attempt, or are being processed. */
  readonly size: number;
  /** Resolves when nothing is queued or running; keys that wait after a failure count as queued. */
  idle(): Promise<void>;
};

export type WorkQueueOptions = {
  /** Processes one key. A failure is retried later, with growing waits after each attempt. */
  readonly process: (key: string, signal: AbortSignal) => Promise<Result<unknown, unknown>>;
  /** The largest number of keys that are processed at the same time. */
  readonly concurrency: number;
  /** The sustained number of starts per second, and the burst that is allowed after a quiet time. */
  readonly rate: { readonly perSecond: number; readonly burst: number };
  /** The first and the longest wait after failures of one key; the wait doubles in between. */
  readonly backoff: Backoff;
  /** Ends the queue: waiting keys are dropped, and the signal also aborts running calls of `process`. */
  readonly signal: AbortSignal;
  /** Called when `process` threw, which is a bug; the key is retried as after a failure. */
  readonly onBug: (error: unknown) => void;
  /**
   * The party of a key; queued keys of different parties take turns. Without it, keys are processed in order of
   * arrival.
   */
  readonly turnOf?: (key: string) => string;
  readonly clock?: Clock;
};

/** The state of a key; `again` is set when it was added while being processed. */
type Entry = {
  state: "queued" | "running" | "waiting";
  again: boolean;
  failures: number;
  cancelTimer: () => void;
};

/** Creates an empty queue. A key is never processed twice at the same time. */
export function createWorkQueue(options: WorkQueueOptions): WorkQueue {
  const { process, concurrency, backoff, signal, onBug, clock = monotonicClock } = options;
  const entries = new Map<string, Entry>();
  const queued = createTurns(options.turnOf ?? (() => ""));
  const allowance = createAllowance(options.rate, clock);
  let running = 0;
  let cancelRefill: (() => void) | undefined;
  let waiters: (() => void)[] = [];

  const settle = (): void => {
    if (entries.size > 0) return;
    const settled = waiters;
    waiters = [];
    for (const resolve of settled) resolve();
  };

  const enqueue = (key: string, entry: Entry): void => {
    entry.state = "queued";
    queued.add(key);
    start();
  };

  const start = (): void => {
    while (running < concurrency && queued.size > 0 && cancelRefill === undefined) {
      const waitMs = allowance.take();
      if (waitMs > 0) {
        cancelRefill = clock.schedule(waitMs, () => {
          cancelRefill = undefined;
          start();
        });
        return;
      }
      const key = queued.take();
      if (key === undefined) return;
      void run(key);
    }
  };

  const run = async (key: string): Promise<void> => {
    const entry = entries.get(key);
    if (entry === undefined) return;
    entry.state = "running";
    entry.again = false;
    running++;
    const result = await attempt(key);
    running--;
    if (!signal.aborted) finish(key, entry, result.ok);
    start();
    settle();
  };

  const attempt = async (key: string): Promise<Result<unknown, unknown>> => {
    try {
      return await process(key, signal);
    } catch (error) {
      onBug(error);
      return fail(error);
    }
  };

  const finish = (key: string, entry: Entry, isDone: boolean): void => {
    entry.failures = isDone ? 0 : entry.failures + 1;
    if (entry.again) return enqueue(key, entry);
    if (isDone) return void entries.delete(key);
    entry.state = "waiting";
    const waitMs = backoffMs(backoff, entry.failures);
    entry.cancelTimer = clock.schedule(waitMs, () => enqueue(key, entry));
  };

  const clear = (): void => {
    cancelRefill?.();
    for (const entry of entries.values()) entry.cancelTimer();
    entries.clear();
    queued.clear();
    settle();
  };
  if (!signal.aborted) signal.addEventListener("abort", clear, { once: true });

  return {
    add(key) {
      if (signal.aborted) return;
      const known = entries.get(key);
      if (known === undefined) {
        const entry: Entry = { state: "queued", again: false, failures: 0, cancelTimer: () => {} };
        entries.set(key, entry);
        return enqueue(key, entry);
      }
      if (known.state === "running") known.again = true;
      if (known.state !== "waiting") return;
      known.cancelTimer();
      enqueue(key, known);
    },
    get size() {
      return entries.size;
    },
    idle: () =>
      entries.size === 0 ? Promise.resolve() : new Promise<void>((resolve) => waiters.push(resolve)),
  };
}

/**
 * A token bucket: `take` consumes a token and returns 0, or returns the time in milliseconds until one is available.
 */
function createAllowance(
  { perSecond, burst }: WorkQueueOptions["rate"],
  clock: Clock,
): { readonly take: () => number } {
  let tokens = burst;
  let atMs = clock.nowMs();
  return {
    take() {
      const nowMs = clock.nowMs();
      tokens = Math.min(burst, tokens + ((nowMs - atMs) / 1000) * perSecond);
      atMs = nowMs;
      if (tokens < 1) return Math.ceil(((1 - tokens) / perSecond) * 1000);
      tokens -= 1;
      return 0;
    },
  };
}
