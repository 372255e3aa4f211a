import { constants, type Http2Session } from "node:http2";

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
};

/**
 * Corrects two habits of Node's sessions. Whatever `NGHTTP2_ERR_PROTO` stands for, Node ends the connection with
 * INTERNAL_ERROR; nghttp2 has by then queued the right answer itself. When that is the reset of one stream, e.g. for
 * more DATA than Content-Length, the others go on (RFC 9113 8.1.1); when it is a GOAWAY, its code reaches the peer
 * and the session ends. And a flood is answered ENHANCE_YOUR_CALM (RFC 9113 10.5).
 *
 * Node offers no option for either, but reports both through the public `destroy` of the session.
 */
export function containErrors(session: Http2Session, containment: ErrorContainment): void {
  const destroy = session.destroy.bind(session);

  const endUnlessContained = (error: Error): void => {
    const before = containment.faultyStreams();
    // The reset leaves, and closes its stream, in the write phase after this read.
    setImmediate(() => {
      setImmediate(() => {
        if (session.destroyed || containment.faultyStreams() !== before) return;
        containment.onFatal(error, false);
        destroy(error, constants.NGHTTP2_PROTOCOL_ERROR);
      });
    });
  };

  session.destroy = (error?: Error, code?: number): void => {
    if (!(error instanceof Error) || session.destroyed) return destroy(error, code);
    if ((error as SessionFault).errno === nghttp2ErrProto) return endUnlessContained(error);
    const flood = isFlood(error as SessionFault);
    containment.onFatal(error, flood);
    destroy(error, flood ? constants.NGHTTP2_ENHANCE_YOUR_CALM : code);
  };
}
