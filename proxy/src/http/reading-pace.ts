/** Bytes per second, on average over the write timeout, below which a response is stalled. */
const minBytesPerSecond = 128;

/**
 * Detects clients that do not take what waits for them. A dripped byte is no progress: within the write timeout a client
 * must take all of it, or `minBytesPerSecond` over the timeout (docs/features/http1.md, "Slow clients").
 */
export class ReadingPace {
  private sinceMs: number | undefined = undefined;
  private takenBytes = 0;

  /** Called when nothing waits for the client: ends the measurement. */
  rest(): void {
    this.sinceMs = undefined;
  }

  /**
   * True when the client has stalled. Called while something waits, at least a few times within `timeoutMs` (0 = no limit);
   * `takenBytes` is what the client has taken since it was connected. Times are milliseconds of the awake clock.
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
