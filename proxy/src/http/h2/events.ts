import type { ClientConnection } from "../../exchange/client-connection.ts";
import type { RequestHead } from "../../message/message.ts";

/**
 * The reason why the HTTP/2 front closed a connection or refused a request on its own, without the pipeline. The names
 * are values of the `limit` label of `svc_proxy_limits_reached_total`. Names that also exist for HTTP/1 have the same
 * meaning there.
 */
export type Http2FrontEventReason =
  | "uri-too-long"
  | "header-too-large"
  | "too-many-headers"
  | "header-timeout"
  /** The SETTINGS of the proxy were not acknowledged in time. */
  | "settings-timeout"
  | "body-timeout"
  | "idle-timeout"
  | "write-timeout"
  | "requests-per-connection"
  /** Node reset a request before the proxy saw it: too many fields, too large a header list, or malformed. */
  | "unread-request"
  /** The connection violates RFC 9113, or the length of a request is refused. */
  | "malformed"
  /** Too many streams were reset by the client, or by the proxy for faults of the client. */
  | "reset-flood"
  /** Too many control frames that serve no request. */
  | "control-flood"
  /**
   * Too many empty DATA frames (with Node's module also malformed messages), CONTINUATION frames, or answers that the
   * client does not read.
   */
  | "frame-flood"
  /** The request handler threw: a bug. */
  | "handler-failed";

export type Http2FrontEvent = {
  readonly reason: Http2FrontEventReason;
  readonly connection: ClientConnection;
  /** Status of the answer of the front; 0 if it closed without an answer, or left the answer to the pipeline. */
  readonly status: number;
  /** The request that was refused. */
  readonly head?: RequestHead;
  /** The bytes of the body of the answer of the front; absent without an answer. */
  readonly bytesSent?: number;
  /** Only with `handler-failed` and `malformed`. */
  readonly error?: unknown;
};

export type Http2FrontEventHandler = (event: Http2FrontEvent) => void;

/** The parts of an event besides its connection and reason. */
export type EventDetails = Pick<Partial<Http2FrontEvent>, "status" | "head" | "bytesSent" | "error">;

/** Creates an event; its status is 0 unless `details` contain one. */
export const eventOf = (
  connection: ClientConnection,
  reason: Http2FrontEventReason,
  details?: EventDetails,
): Http2FrontEvent => ({ connection, reason, status: 0, ...details });
