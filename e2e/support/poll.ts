import { setTimeout as delay } from "node:timers/promises";
import { textOf } from "../../common/src/values/errors.ts";

const pauseMs = 100;

/**
 * Polls until the result is neither undefined nor false, and returns it with the time that it took. A failed attempt
 * counts as no result. After the limit, the error contains the awaited condition and the last failure.
 */
export async function poll<T>(
  what: string,
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  limitMs = 60_000,
): Promise<{ readonly value: T; readonly tookMs: number }> {
  const startedMs = performance.now();
  let lastFailure = "";
  for (;;) {
    try {
      const value = await ask();
      if (value !== undefined && value !== false) return { value, tookMs: performance.now() - startedMs };
      lastFailure = "";
    } catch (error) {
      lastFailure = `: ${textOf(error)}`;
    }
    if (performance.now() - startedMs > limitMs)
      throw new Error(`timeout after ${limitMs} ms, waiting for ${what}${lastFailure}`);
    await delay(pauseMs);
  }
}
