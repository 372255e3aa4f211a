/** Where an HTTP/1 connection is between its first request and its end. */
export type ConnectionPhase =
  /** Between requests, or inside a head. */
  | "idle"
  /** A request waits for its response. */
  | "busy"
  /** The response has ended, the request's body has not. */
  | "discarding"
  /** Nothing more is answered; waits for the client to close. */
  | "closing"
  /** The connection belongs to a tunnel. */
  | "handed-over";

/** The largest rest of a body, in bytes, that is read and thrown away to keep the connection. */
export const maxDiscardedBytes = 65_536;
/** How long that may take. */
export const discardTimeoutMs = 1000;

/**
 * How long a closing connection is read and ignored, so that unread bytes do not reset it before the client has read its
 * answer (RFC 9112 9.6).
 */
export const lingerMs = 1000;
/** The same while a request still arrives. */
export const lingerArrivingMs = 5000;
