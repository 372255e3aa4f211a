const [seconds, nanoseconds] = process.hrtime();
const offsetMs = seconds * 1e3 + nanoseconds / 1e6 - performance.now();

/** Milliseconds of a clock that never goes back and that all threads of the process share. */
export const monotonicMs = (): number => performance.now() + offsetMs;
