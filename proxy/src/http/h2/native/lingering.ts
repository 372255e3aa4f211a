/** How long a client may take to read the last bytes and close its end after the connection has ended. */
const lingerMs = 30_000;
/** What is still read, and thrown away, of a client that goes on after the end. */
const maxLateBytes = 1_048_576;

/** What a client may still do on a connection that has ended. */
export class Lingering {
  private sinceMs = 0;
  private lateBytes = 0;

  /** Counts bytes that come late. False: they are too many. */
  receive(bytes: number): boolean {
    this.lateBytes += bytes;
    return this.lateBytes <= maxLateBytes;
  }

  /** Whether the client has had its time, which runs from the first call on. */
  isOver(nowMs: number): boolean {
    if (this.sinceMs === 0) this.sinceMs = nowMs;
    return nowMs - this.sinceMs >= lingerMs;
  }
}
