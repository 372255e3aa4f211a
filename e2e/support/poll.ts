import { setTimeout as delay } from "node:timers/promises";
import { textOf } from "../../common/src/values/errors.ts";

const pauseMs = 100;

/**
 * Asks again and again until there is a result other than undefined and false, and gives it with the time it took. A
 * question that fails counts as not answered; after the limit the last failure or what was waited for is the error.
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
      throw new Error(`waited ${limitMs} ms in vain for ${what}${lastFailure}`);
    await delay(pauseMs);
  }
}
