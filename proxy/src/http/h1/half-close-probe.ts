import type { FrontClock } from "./clock.ts";

const firstProbeMs = 1000;
const maxProbes = 5;

/**
 * When to ask whether the client of a half-closed connection still reads. TCP cannot tell a client that ended its
 * sending side from one that has left; bytes sent to the latter come back as a reset. So while its request waits, a
 * client that ended is sent a few interim responses, each after twice the time (docs/features/http1.md,
 * "Half-closed connections").
 */
export class HalfCloseProbe {
  private readonly clock: FrontClock;
  private sent = 0;
  private dueMs: number;

  constructor(clock: FrontClock) {
    this.clock = clock;
    this.dueMs = clock.deadline(firstProbeMs);
  }

  /** True when a probe must be sent now; counts it. */
  isDue(nowMs: number): boolean {
    if (this.sent >= maxProbes || nowMs < this.dueMs) return false;
    this.sent++;
    this.dueMs = this.clock.deadline(firstProbeMs * 2 ** (this.sent - 1));
    return true;
  }
}
