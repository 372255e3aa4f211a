/** Bytes per second, on average over the write timeout, below which a response is stalled. */
const minBytesPerSecond = 128;

/**
 * Detects clients that do not read the bytes that wait for them. Single bytes do not count as progress: within the
 * write timeout a client must read everything, or `minBytesPerSecond` on average (docs/features/http1.md, "Slow
 * clients").
 */
export class ReadingPace {
  private sinceMs: number | undefined = undefined;
  private takenBytes = 0;

  /** Ends the measurement. Called when no bytes wait for the client. */
  rest(): void {
    this.sinceMs = undefined;
  }

  /**
   * Reports whether the client has stalled. Called while bytes wait, at least a few times within `timeoutMs` (0 = no
   * limit). `takenBytes` is the total that the client has read since it connected. Times are milliseconds of the awake
   * clock.
   */
  isStalled(nowMs: number, takenBytes: number, timeoutMs: number): boolean {
    const wantedBytes = (timeoutMs * minBytesPerSecond) / 1000;
    if (this.sinceMs === undefined || takenBytes - this.takenBytes >= wantedBytes) {
      this.sinceMs = nowMs;
      this.takenBytes = takenBytes;
      return false;
    }
    return timeoutMs > 0 && nowMs - this.sinceMs >= timeoutMs;
  }
}
