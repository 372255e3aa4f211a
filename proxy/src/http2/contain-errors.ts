import type { Http2Session } from "node:http2";
import { errorCode } from "./frames/frame-types.ts";

/** Codes of nghttp2 that Node passes on as `errno` (nghttp2.h, `nghttp2_error`). */
const nghttp2ErrProto = -505;
const nghttp2ErrFlooded = -904;
const nghttp2ErrTooManyContinuations = -905;

type SessionFault = { readonly code?: string; readonly errno?: number };

/** Reports whether Node ends a session because nghttp2 or Node itself detected a flood by the peer. */
function isFlood({ code, errno }: SessionFault): boolean {
  if (code === "ERR_HTTP2_TOO_MANY_INVALID_FRAMES") return true;
  return errno === nghttp2ErrFlooded || errno === nghttp2ErrTooManyContinuations;
}

type ErrorContainment = {
  /** Returns how many streams of the session have been reset with PROTOCOL_ERROR so far. */
  faultyStreams(): number;
  /** Called before the session ends with this error; `flood` is true if the peer flooded it. */
  onFatal(error: Error, flood: boolean): void;
  /** Called if the peer violated the protocol, before it is known whether the session can continue. */
  onFault?(): void;
};

/**
 * Corrects three behaviours of Node's sessions. For every cause of `NGHTTP2_ERR_PROTO`, Node ends the connection with
 * INTERNAL_ERROR, although nghttp2 has already queued the right answer. If that is the reset of one stream, such as for
 * more DATA than Content-Length, the other streams continue (RFC 9113 8.1.1); if it is a GOAWAY, its code reaches the
 * peer and the session ends. Node reports the same for an unsolicited PING acknowledgement, which is not an error: the
 * session then continues. And a flood is answered with ENHANCE_YOUR_CALM (RFC 9113 10.5).
 *
 * Node has no options for these, but reports all of them through the public `destroy` of the session.
 */
export function containErrors(session: Http2Session, containment: ErrorContainment): void {
  const destroy = session.destroy.bind(session);
  /** The latest fault, while its consequence is not known yet. */
  let open: Error | undefined;

  const endUnlessContained = (error: Error): void => {
    containment.onFault?.();
    const isLookedAt = open !== undefined;
    open = error;
    if (!isLookedAt && !session.destroyed) lookAt(error, containment.faultyStreams());
  };

  const lookAt = (error: Error, faultyBefore: number): void =>
    // The reset of a stream is sent, and closes the stream, in the write phase after this read.
    afterWrites(() => {
      if (session.destroyed) return;
      if (containment.faultyStreams() !== faultyBefore) settle(error);
      else probe(session, (isAlive) => (isAlive ? settle(error) : end(error)));
    });

  /** Lets the session continue, unless another fault has occurred meanwhile. */
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

/** Runs a callback once the answers of nghttp2 to a read have been passed to the socket. */
function afterWrites(then: () => void): void {
  setImmediate(() => setImmediate(then));
}

/**
 * Determines whether nghttp2 has ended a session on its own: then nothing is written any more, not even a PING. A
 * session that cannot write at the moment also counts as ended.
 */
function probe(session: Http2Session, then: (isAlive: boolean) => void): void {
  const { bytesWritten } = session.socket;
  session.ping(() => undefined);
  afterWrites(() => then(!session.destroyed && session.socket.bytesWritten > bytesWritten));
}
