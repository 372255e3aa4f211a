import type { ClientConnection } from "../../exchange/client-connection.ts";
import type { RequestHead } from "../../message/message.ts";

/**
 * Why the HTTP/2 front ended or refused something on its own, before or without the pipeline: values of the `limit`
 * label of `svc_proxy_limits_reached_total`. Names that HTTP/1 knows too mean the same there.
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
  /** Node has reset a request before the proxy saw it: more fields or a larger header list than it reads, or malformed. */
  | "unread-request"
  /** The connection breaks RFC 9113, or a request has a length that is refused. */
  | "malformed"
  /** Too many streams reset by the client, or by the proxy for the client's faults. */
  | "reset-flood"
  /** Too many frames that ask for nothing. */
  | "control-flood"
  /** Too many empty or malformed frames, CONTINUATION frames, or answers that the client does not take. */
  | "frame-flood"
  /** The request handler threw: a bug. */
  | "handler-failed";

export type Http2FrontEvent = {
  readonly reason: Http2FrontEventReason;
  readonly connection: ClientConnection;
  /** Status that the front answered with; 0 when it closed without an answer, or left the answer to the pipeline. */
  readonly status: number;
  /** The request that was refused. */
  readonly head?: RequestHead;
  /** Only with `handler-failed` and `malformed`. */
  readonly error?: unknown;
};

export type Http2FrontEventHandler = (event: Http2FrontEvent) => void;

/** What an event says besides its connection and reason. */
export type EventDetails = Pick<Partial<Http2FrontEvent>, "status" | "head" | "error">;

/** An event with status 0 where there was no response. */
export const eventOf = (
  connection: ClientConnection,
  reason: Http2FrontEventReason,
  details?: EventDetails,
): Http2FrontEvent => ({ connection, reason, status: 0, ...details });
