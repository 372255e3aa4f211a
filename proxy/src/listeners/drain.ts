import { aborted } from "@svc-gateway/common/time/aborted.ts";
import { AwakeTimer } from "../timing/awake-timer.ts";

/** A listener that can be drained. */
export type Draining = {
  /** Stops accepting. Resolves when everything has finished. */
  drain(): Promise<void>;
  /** Notifies clients of the end, if their protocols allow it. Returns the number of requests that this ended. */
  sayEnd?(): number;
  /** Ends everything now. Returns the number of requests, and connections without any, that were cut. */
  destroy(): number;
};

export type DrainOutcome = {
  readonly durationMs: number;
  /**
   * The number of requests, and connections without any, that were cut; undefined if the listener finished on its own.
   */
  readonly cut: number | undefined;
};

/** Drains a listener, by force after `timeoutMs` (undefined for no limit) or when `hurry` is aborted. */
export async function drainWithin(
  listener: Draining,
  timeoutMs: number | undefined,
  hurry?: AbortSignal,
): Promise<DrainOutcome> {
  const startedMs = performance.now();
  const drained = listener.drain();
  const over = new AbortController();
  const end = hurry === undefined ? over.signal : AbortSignal.any([hurry, over.signal]);
  const timedOut = timeoutMs === undefined ? aborted(end) : pause(timeoutMs, end);
  const finished = await Promise.race([drained.then(() => true), timedOut.then(() => false)]);
  over.abort();
  const cut = finished ? undefined : await cutAll(listener);
  await drained;
  return { durationMs: performance.now() - startedMs, cut };
}

async function cutAll(listener: Draining): Promise<number> {
  const ended = listener.sayEnd?.() ?? 0;
  // Notifications are sent at the end of the turn.
  await new Promise(setImmediate);
  return ended + listener.destroy();
}

/** Waits until the time is over or `hurry` is aborted. */
export function pause(ms: number, hurry: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (hurry.aborted) return resolve();
    const done = (): void => {
      timer.clear();
      hurry.removeEventListener("abort", done);
      resolve();
    };
    const timer = new AwakeTimer(done, ms);
    hurry.addEventListener("abort", done);
  });
}
