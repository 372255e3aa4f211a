import type { FrontLimits } from "./front.ts";

/** Longest time between two looks at the time limits; shorter when a limit is shorter. */
const maxSweepIntervalMs = 1000;

/** A quarter of the shortest limit, so that none is exceeded by more than that. */
export function sweepInterval(limits: FrontLimits): number {
  const timeouts = [
    limits.headerTimeoutMs,
    limits.bodyTimeoutMs,
    limits.idleTimeoutMs,
    limits.writeTimeoutMs,
  ];
  const shortest = Math.min(...timeouts.filter((limitMs) => limitMs > 0));
  return Math.max(10, Math.min(maxSweepIntervalMs, shortest / 4));
}
