/**
 * Waits for a condition, looking again and again; says what it waited for when it never comes. Time in which the machine
 * gave this process no turn does not count: it says nothing about the condition.
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
