import type { ClientConnection } from "../../exchange/client-connection.ts";
import type { RequestHead } from "../../message/message.ts";

/**
 * The reason why a front closed a connection or refused a request on its own, without the pipeline. The names are the
 * values of the `limit` label of `svc_proxy_limits_reached_total` and the error texts of docs/features/http1.md.
 */
export type FrontEventReason =
  /** The head violates RFC 9112. */
  | "malformed"
  | "uri-too-long"
  | "header-too-large"
  | "too-many-headers"
  /** A transfer coding other than a single `chunked` (RFC 9112 6.1). */
  | "unknown-coding"
  /** A method that the parser does not know. */
  | "unknown-method"
  | "unknown-version"
  | "header-timeout"
  | "body-timeout"
  /** The chunked coding of a request body is malformed. */
  | "malformed-body"
  | "idle-timeout"
  | "write-timeout"
  | "requests-per-connection"
  /** The waiting pipelined requests exceed the memory of the front. */
  | "pipelining"
  /** A response was longer or shorter than its Content-Length, or cannot be written as HTTP/1. */
  | "broken-response"
  /** The request handler threw: a bug. */
  | "handler-failed";

export type FrontEvent = {
  readonly reason: FrontEventReason;
  readonly connection: ClientConnection;
  /** Status of the answer of the front; 0 if it closed without an answer, or left the answer to the pipeline. */
  readonly status: number;
  /** The request that was refused, if its head was read. */
  readonly head?: RequestHead;
  /** The time since the first byte of the refused request, in milliseconds; absent if it is not measured. */
  readonly durationMs?: number;
  /** The bytes of the body of the answer of the front; absent without an answer. */
  readonly bytesSent?: number;
  /** Only with `handler-failed` and `broken-response`. */
  readonly error?: unknown;
};
