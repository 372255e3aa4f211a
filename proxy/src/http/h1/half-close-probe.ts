import type { FrontClock } from "./clock.ts";

const firstProbeMs = 1000;
const maxProbes = 5;

/**
 * The schedule of probes that show whether the client of a half-closed connection still reads. TCP does not distinguish
 * a client that ended its sending side from one that closed the connection, but the latter answers bytes with a reset.
 * So while its request waits, such a client is sent a few interim responses at doubling intervals
 * (docs/features/http1.md, "Half-closed connections").
 */
export class HalfCloseProbe {
  private readonly clock: FrontClock;
  private sent = 0;
  private dueMs: number;

  constructor(clock: FrontClock) {
    this.clock = clock;
    this.dueMs = clock.deadline(firstProbeMs);
  }

  /** Returns true if a probe must be sent now, and counts it. */
  isDue(nowMs: number): boolean {
    if (this.sent >= maxProbes || nowMs < this.dueMs) return false;
    this.sent++;
    this.dueMs = this.clock.deadline(firstProbeMs * 2 ** (this.sent - 1));
    return true;
  }
}
