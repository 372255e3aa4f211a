/** The state of an HTTP/1 connection. */
export type ConnectionPhase =
  /** Between requests, or inside a head. */
  | "idle"
  /** A request waits for its response. */
  | "busy"
  /** The response has ended, but the body of the request has not. */
  | "discarding"
  /** No more requests are answered; waits for the client to close. */
  | "closing"
  /** The connection belongs to a tunnel. */
  | "handed-over";

/** The most bytes of an unread body that are read and discarded to keep the connection. */
export const maxDiscardedBytes = 65_536;
/** How long discarding a body may take, in milliseconds. */
export const discardTimeoutMs = 1000;

/**
 * How long a closing connection is still read, in milliseconds. The bytes are ignored; leaving them unread would reset
 * the connection before the client has read its answer (RFC 9112 9.6).
 */
export const lingerMs = 1000;
/** The same time if a request is still arriving, in milliseconds. */
export const lingerArrivingMs = 5000;
