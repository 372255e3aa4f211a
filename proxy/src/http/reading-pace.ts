/** Bytes per second, on average over the write timeout, below which a response is stalled. */
const minBytesPerSecond = 128;

/**
 * Whether a client takes what waits for it. A dripped byte is no progress: within the write timeout it must take all of
 * it, or 128 bytes for each second of the timeout (docs/features/http1.md, "Slow clients").
 */
export class ReadingPace {
  private sinceMs: number | undefined = undefined;
  private takenBytes = 0;

  /** Nothing waits for the client. */
  rest(): void {
    this.sinceMs = undefined;
  }

  /**
   * Something waits, and the client has taken `takenBytes` since it was connected. To be called at least a few times within
   * `timeoutMs` (0 = no limit); times are milliseconds of the awake clock.
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
