/** Numbers left out at once that are counted: more than a client may have streams under way means nothing. */
const maxCounted = 100;

/**
 * Finds requests that Node has reset before the proxy saw them, without an event: header lists of more than it
 * reads, and malformed ones. Clients number their streams in order, by twos (RFC 9113 5.1.1), so such a request is missing
 * in front of the next one, or the last that nghttp2 has begun to read when the connection ends. A client that leaves
 * numbers out by itself looks the same.
 *
 * Methods answer how many requests were found.
 */
export class UnreadRequests {
  private last = 0;

  /** A request was seen. Clients may begin with any number. */
  seen(streamId: number): number {
    const { last } = this;
    this.last = streamId;
    return last === 0 ? 0 : Math.max(0, Math.min(maxCounted, (streamId - last) / 2 - 1));
  }

  /** No more requests are read; this stream was begun last, 0: none. */
  end(begun: number): number {
    const { last } = this;
    if (begun <= last) return 0;
    this.last = begun;
    return last === 0 ? 1 : Math.min(maxCounted, (begun - last) / 2);
  }
}
