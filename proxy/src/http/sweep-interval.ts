import type { FrontLimits } from "./front.ts";

/** The shortest time between two sweeps, in milliseconds. */
const minSweepIntervalMs = 10;

/** Returns a quarter of the shortest limit, so that none is exceeded by more than that; at most `maxIntervalMs`. */
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
