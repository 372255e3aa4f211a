import type { FrontLimits } from "./front.ts";

/** Shortest time between two looks at the time limits, in milliseconds. */
const minSweepIntervalMs = 10;

/** A quarter of the shortest limit, so that none is exceeded by more than that; at most `maxIntervalMs`. */
export function sweepInterval(limits: FrontLimits, maxIntervalMs: number): number {
  const timeouts = [
    limits.headerTimeoutMs,
    limits.bodyTimeoutMs,
    limits.idleTimeoutMs,
    limits.writeTimeoutMs,
  ];
  const shortest = Math.min(...timeouts.filter((limitMs) => limitMs > 0));
  return Math.max(minSweepIntervalMs, Math.min(maxIntervalMs, shortest / 4));
}
