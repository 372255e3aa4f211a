/** Time in milliseconds for a client to read the last bytes and close its end after the connection has ended. */
const lingerMs = 30_000;
/** The most bytes that are read and discarded of a client that continues to send after the end. */
const maxLateBytes = 1_048_576;

/** Limits the time and the bytes of a client on a connection that has ended. */
export class Lingering {
  private sinceMs = 0;
  private lateBytes = 0;

  /** Counts late bytes; returns false if there are too many. */
  receive(bytes: number): boolean {
    this.lateBytes += bytes;
    return this.lateBytes <= maxLateBytes;
  }

  /** Reports whether the time of the client is over. It starts with the first call. */
  isOver(nowMs: number): boolean {
    if (this.sinceMs === 0) this.sinceMs = nowMs;
    return nowMs - this.sinceMs >= lingerMs;
  }
}
