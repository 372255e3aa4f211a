/** Waits for a condition, looking again and again; says what it waited for when it never comes. */
export async function until(
  condition: () => boolean,
  what: string,
  timeoutMs: number = 20_000,
): Promise<void> {
  const endMs = performance.now() + timeoutMs;
  while (!condition()) {
    if (performance.now() > endMs) throw new Error(`waited in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
