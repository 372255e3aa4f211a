import type { Http2Session } from "node:http2";
import { errorCode } from "./frames/frame-types.ts";

/** Codes of nghttp2 that Node passes on as `errno` (nghttp2.h, `nghttp2_error`). */
const nghttp2ErrProto = -505;
const nghttp2ErrFlooded = -904;
const nghttp2ErrTooManyContinuations = -905;

type SessionFault = { readonly code?: string; readonly errno?: number };

/** True when Node ends a session because its peer floods it, as far as nghttp2 counts itself. */
function isFlood({ code, errno }: SessionFault): boolean {
  if (code === "ERR_HTTP2_TOO_MANY_INVALID_FRAMES") return true;
  return errno === nghttp2ErrFlooded || errno === nghttp2ErrTooManyContinuations;
}

type ErrorContainment = {
  /** How many streams of the session have been reset with PROTOCOL_ERROR so far. */
  faultyStreams(): number;
  /** The session is about to end with this error; `flood` when its peer sent too much of something. */
  onFatal(error: Error, flood: boolean): void;
  /** The peer broke the protocol in some way; comes before it is known whether the session can go on. */
  onFault?(): void;
};

/**
 * Corrects three habits of Node's sessions. For every cause of `NGHTTP2_ERR_PROTO`, Node ends the connection with
 * INTERNAL_ERROR; nghttp2 has by then queued the right answer itself. When that is the reset of one stream, e.g. for
 * more DATA than Content-Length, the others go on (RFC 9113 8.1.1); when it is a GOAWAY, its code reaches the peer
 * and the session ends. Node says the same of an unsolicited PING acknowledgement, which is no error at all: then
 * the session goes on. And a flood is answered ENHANCE_YOUR_CALM (RFC 9113 10.5).
 *
 * Node offers no option for any of it, but reports all through the public `destroy` of the session.
 */
export function containErrors(session: Http2Session, containment: ErrorContainment): void {
  const destroy = session.destroy.bind(session);
  /** The last fault whose meaning is not known yet. */
  let open: Error | undefined;

  const endUnlessContained = (error: Error): void => {
    containment.onFault?.();
    const isLookedAt = open !== undefined;
    open = error;
    if (!isLookedAt && !session.destroyed) lookAt(error, containment.faultyStreams());
  };

  const lookAt = (error: Error, faultyBefore: number): void =>
    // The reset of a stream leaves, and closes it, in the write phase after this read.
    afterWrites(() => {
      if (session.destroyed) return;
      if (containment.faultyStreams() !== faultyBefore) settle(error);
      else probe(session, (isAlive) => (isAlive ? settle(error) : end(error)));
    });

  /** The session can go on, unless another fault has come meanwhile. */
  const settle = (error: Error): void => {
    const later = open;
    if (later === undefined || later === error) open = undefined;
    else lookAt(later, containment.faultyStreams());
  };

  const end = (error: Error): void => {
    if (session.destroyed) return;
    containment.onFatal(error, false);
    destroy(error, errorCode.protocolError);
  };

  session.destroy = (error?: Error, code?: number): void => {
    if (!(error instanceof Error) || session.destroyed) return destroy(error, code);
    if ((error as SessionFault).errno === nghttp2ErrProto) return endUnlessContained(error);
    const flood = isFlood(error as SessionFault);
    containment.onFatal(error, flood);
    destroy(error, flood ? errorCode.enhanceYourCalm : code);
  };
}

/** Runs when what a read made nghttp2 say has been handed to the socket. */
function afterWrites(then: () => void): void {
  setImmediate(() => setImmediate(then));
}

/**
 * Finds out whether nghttp2 has ended a session by itself: then nothing is written any more, not even a PING. One that
 * cannot write at the moment counts as ended as well.
 */
function probe(session: Http2Session, then: (isAlive: boolean) => void): void {
  const { bytesWritten } = session.socket;
  session.ping(() => undefined);
  afterWrites(() => then(!session.destroyed && session.socket.bytesWritten > bytesWritten));
}
