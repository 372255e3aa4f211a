/**
 * Waits for a condition by checking it repeatedly; the error after a timeout names it. Time in which the machine did
 * not run this process is not counted, because it says nothing about the condition.
 */
export async function until(
  condition: () => boolean,
  what: string,
  timeoutMs: number = 20_000,
): Promise<void> {
  let waitedMs = 0;
  while (!condition()) {
    if (waitedMs > timeoutMs) throw new Error(`waited in vain: ${what}`);
    const begunMs = performance.now();
    await new Promise((resolve) => setTimeout(resolve, 2));
    waitedMs += Math.min(performance.now() - begunMs, longestTurnMs);
  }
}

const longestTurnMs = 20;
