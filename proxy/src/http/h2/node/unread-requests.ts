/** The most missing stream ids that are counted at once: no client may have more streams open. */
const maxCounted = 100;

/**
 * Detects requests that Node reset without an event before the proxy saw them: those with too large a header list, and
 * malformed ones. Clients number their streams in order, in steps of two (RFC 9113 5.1.1), so the id of such a request
 * is missing before that of the next one, or before that of the last stream that nghttp2 began to read when the
 * connection ends. A client that skips ids itself looks the same.
 *
 * Methods return how many requests were found.
 */
export class UnreadRequests {
  private last = 0;

  /** Called for each request that the proxy sees. Clients may begin with any id. */
  seen(streamId: number): number {
    const { last } = this;
    this.last = streamId;
    return last === 0 ? 0 : Math.max(0, Math.min(maxCounted, (streamId - last) / 2 - 1));
  }

  /** Called when no more requests are read. `begun` is the last stream that was begun, or 0. */
  end(begun: number): number {
    const { last } = this;
    if (begun <= last) return 0;
    this.last = begun;
    return last === 0 ? 1 : Math.min(maxCounted, (begun - last) / 2);
  }
}
