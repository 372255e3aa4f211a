/** The clocks are read until one reading took at most this long, in milliseconds: thousands of instructions. */
const closeEnoughMs = 0.005;
const maxReadings = 1_000;

/**
 * Returns by how many milliseconds the clock of the process is ahead of that of this thread. The two cannot be read
 * simultaneously, and the thread can be preempted between them, so the shortest of several readings counts.
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

/** The monotonic clock that all threads of the process share, in milliseconds, accurate to some microseconds. */
export const monotonicMs = (): number => performance.now() + offsetMs;
