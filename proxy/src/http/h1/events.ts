import type { ClientConnection } from "../../exchange/client-connection.ts";
import type { RequestHead } from "../../message/message.ts";

/**
 * Why a front ended or refused something on its own, before or without the pipeline. The names are the values of the
 * `limit` label of `svc_proxy_limits_reached_total` and the error texts of docs/features/http1.md.
 */
export type FrontEventReason =
  /** The head breaks RFC 9112. */
  | "malformed"
  | "uri-too-long"
  | "header-too-large"
  | "too-many-headers"
  /** A transfer coding other than one `chunked` (RFC 9112 6.1). */
  | "unknown-coding"
  /** A method that the parser does not know. */
  | "unknown-method"
  | "unknown-version"
  | "header-timeout"
  | "body-timeout"
  /** The chunked coding of a request body is broken. */
  | "malformed-body"
  | "idle-timeout"
  | "write-timeout"
  | "requests-per-connection"
  /** More pipelined requests wait than the front may hold. */
  | "pipelining"
  /** A response was longer or shorter than announced, or cannot be written as HTTP/1. */
  | "broken-response"
  /** The request handler threw: a bug. */
  | "handler-failed";

export type FrontEvent = {
  readonly reason: FrontEventReason;
  readonly connection: ClientConnection;
  /** Status that the front answered with; 0 when it closed without an answer, or left the answer to the pipeline. */
  readonly status: number;
  /** The request that was refused, where its head was read. */
  readonly head?: RequestHead;
  /** Only with `handler-failed` and `broken-response`. */
  readonly error?: unknown;
};
