import { setTimeout as delay } from "node:timers/promises";
import { textOf } from "../../common/src/values/errors.ts";

const pauseMs = 100;

/**
 * Polls until there is a result other than undefined and false, and returns it with the time it took. A failed attempt
 * counts as no result; after the limit the error has what was waited for and the last failure.
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
