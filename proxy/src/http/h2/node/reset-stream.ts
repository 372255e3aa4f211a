import type { Http2Stream } from "node:http2";

/**
 * Resets a stream with an incomplete message, so that the peer sees that it was cut. Node's `close` ends the writable
 * side first, so END_STREAM would be sent ahead of RST_STREAM, and a partial message would look complete (RFC 9113
 * 8.1). Node sends END_STREAM in `_final`, which is therefore replaced by an empty function.
 */
export function resetStream(stream: Http2Stream, code: number): void {
  if (!stream.writableEnded) stream._final = (done) => done();
  stream.close(code);
}
