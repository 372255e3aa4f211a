import type { Http2Stream } from "node:http2";

/**
 * Resets a stream whose message is not complete, so that the peer sees it cut. Node's `close` ends the writable side first,
 * and END_STREAM would leave ahead of RST_STREAM: a part of a message would look like all of it (RFC 9113 8.1). That end is
 * sent by the `_final` of Node's stream, in whose place nothing is done.
 */
export function resetStream(stream: Http2Stream, code: number): void {
  if (!stream.writableEnded) stream._final = (done) => done();
  stream.close(code);
}
