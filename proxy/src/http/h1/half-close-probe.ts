/**
 * The times of the probes, in milliseconds after the half-close: pairs, of which the first is answered with a reset and
 * the second finds it. At most five are sent, because some clients accept no more interim responses.
 */
const probeTimesMs = [500, 750, 2_000, 8_000, 8_250] as const;

/**
 * The schedule of probes that show whether the client of a half-closed connection still reads. TCP does not distinguish
 * a client that ended its sending side from one that closed the connection, but the latter answers bytes with a reset.
 * So while its request waits, such a client is sent a few interim responses (docs/features/http1.md, "Half-closed
 * connections"). After the end of the peer's side, reads do not report a reset on Linux; only the next write fails.
 */
export class HalfCloseProbe {
  private sent = 0;
  private dueMs: number;

  /** `nowMs` is the time of the half-close, by the awake clock. */
  constructor(nowMs: number) {
    this.dueMs = nowMs + probeTimesMs[0];
  }

  /** Returns true if a probe must be sent now, and counts it. */
  isDue(nowMs: number): boolean {
    if (nowMs < this.dueMs) return false;
    const sentAtMs = probeTimesMs[this.sent] as number;
    this.sent++;
    const next = probeTimesMs[this.sent];
    this.dueMs = next === undefined ? Number.POSITIVE_INFINITY : nowMs + next - sentAtMs;
    return true;
  }
}
