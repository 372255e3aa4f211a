/** A pair of clocks is read until one reading of them took less than this, in milliseconds: thousands of instructions. */
const closeEnoughMs = 0.005;
const maxReadings = 1_000;

/**
 * By how many milliseconds the clock of the process is ahead of a thread's own. They cannot be read at one moment, and a thread may
 * wait for a processor between the two: of all readings the shortest one counts.
 */
export function aheadBy(processMs: () => number, threadMs: () => number): number {
  let shortestMs = Infinity;
  let offsetMs = 0;
  for (let reading = 0; reading < maxReadings && shortestMs > closeEnoughMs; reading++) {
    const beforeMs = processMs();
    const nowMs = threadMs();
    const tookMs = processMs() - beforeMs;
    if (tookMs >= shortestMs) continue;
    shortestMs = tookMs;
    offsetMs = beforeMs + tookMs / 2 - nowMs;
  }
  return offsetMs;
}

const processMs = (): number => {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1e3 + nanoseconds / 1e6;
};

const offsetMs = aheadBy(processMs, () => performance.now());

/** Milliseconds of a clock that never goes back and that all threads of the process share, to some microseconds. */
export const monotonicMs = (): number => performance.now() + offsetMs;
