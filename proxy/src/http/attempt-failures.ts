import type { Exchange } from "../exchange/exchange.ts";
import type { LocalReply } from "../message/local-reply.ts";
import type { ProxyMetrics } from "../telemetry/metrics.ts";
import { reasonOfUpstream, type UpstreamError } from "../upstream/upstream-errors.ts";
import type { OutgoingBody } from "./outgoing-body.ts";
import { unreadBody } from "./refusals.ts";

/** The types of `svc_proxy_upstream_errors_total`. */
type FailureType = "refused" | "connect" | "timeout" | "tls" | "5xx" | "other";

/** Counts a failure of the upstream of a request. */
export function countFailure(
  { connection, route, upstreamService: upstream }: Exchange,
  { upstreamErrors }: ProxyMetrics,
  type: FailureType,
): void {
  const labels = { listener: connection.listener.portLabel, route: route?.id ?? "", upstream };
  upstreamErrors.with({ ...labels, error_type: type }).inc();
}

/** The reason for sending a request again, a label value of `svc_proxy_upstream_retries_total`. */
export type RetryReason =
  | "connect-failure"
  | "timeout"
  | "5xx"
  | "http-code"
  | "grpc-code"
  /** An HTTP/2 backend has not processed the request; this is retried on routes without retries as well. */
  | "refused-stream";

/** Counts that a request is sent to its upstream again. */
export function countRetry(
  { connection, route, upstreamService: upstream }: Exchange,
  { upstreamRetries }: ProxyMetrics,
  condition: RetryReason,
): void {
  const { portLabel: listener } = connection.listener;
  upstreamRetries.with({ listener, route: route?.id ?? "", upstream, condition }).inc();
}

/**
 * Returns the reply to a request that failed with this error, and the type of the failure; undefined if the upstream
 * did not cause it.
 */
export function failureOf(
  error: UpstreamError,
  { upstreamTimeouts }: Exchange,
  body: OutgoingBody | null,
): { readonly reply: LocalReply; readonly type: FailureType | undefined } {
  const cause = { error: error.text, reason: reasonOfUpstream(error) };
  switch (error.kind) {
    case "request-body":
      return { reply: unreadBody(body?.abortReason), type: undefined };
    case "timeout":
      return { reply: { status: 504, ...cause }, type: "timeout" };
    case "connect-timeout":
      return {
        reply: { status: upstreamTimeouts?.connectTimeoutStatus ?? 502, ...cause },
        type: "timeout",
      };
    case "refused":
    case "connect":
    case "tls":
      return { reply: { status: 502, ...cause }, type: error.kind };
    case "no-socket":
      return { reply: { status: 502, ...cause }, type: "connect" };
    case "own-port":
      return { reply: { status: 503, ...cause }, type: "other" };
    case "reset":
    case "invalid":
      return { reply: { status: 502, ...cause }, type: "other" };
  }
}
