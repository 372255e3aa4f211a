import type { RefusalCode } from "@svc-gateway/common/telemetry/refusals/refusal-reasons.ts";

/** The content of the `path` field: the concrete path, the configured path of the rule, or nothing. */
export type AccessLogPathMode = "full" | "pattern" | "none";

/** One finished request (docs/reference/access-log.md). */
export type AccessRecord = {
  readonly host: string;
  readonly method: string;
  /** The concrete normalised path, without query. */
  readonly path: string;
  /** The configured path of the matched rule; `/` without a match. */
  readonly pattern: string;
  readonly status: number;
  /** The id of the matched route; empty when none matched. */
  readonly routeId: string;
  /** `<namespace>/<service>`, empty when the request went to no upstream. */
  readonly upstream: string;
  /** `ip:port` of the last endpoint tried, empty when there was none. */
  readonly upstreamAddr: string;
  readonly durationMs: number;
  /** The bytes of the response body, or those sent to the client over an upgraded connection. */
  readonly bytesSent: number;
  /** A short fixed text; present only on failure. */
  readonly error?: string;
  /** The code of `error` (docs/reference/refusals.md). */
  readonly reason?: RefusalCode;
  /** The cause of `error`; absent if it is not known. */
  readonly detail?: string | undefined;
  /** True for a copy sent to a mirror. */
  readonly mirror?: boolean;
  readonly clientIp: string;
  /** The number of upstream attempts; 0 when no upstream was contacted. */
  readonly attempts: number;
  /** The details that only some logs show; absent if they were not collected. */
  readonly details?: AccessDetails | undefined;
};

/** Details of a request that the usual lines do not show. Texts are as the client sent them, or empty. */
export type AccessDetails = {
  readonly requestId: string;
  readonly traceId: string;
  /** The listener port. */
  readonly listener: number;
  /** The protocol of the request, such as `HTTP/1.1`. */
  readonly protocol: string;
  readonly userAgent: string;
  readonly referer: string;
  readonly bytesReceived: number;
  readonly tlsVersion: string;
  readonly tlsServerName: string;
  /** The times of the last attempt, in milliseconds since its start; absent if they are not known. */
  readonly connectMs?: number | undefined;
  readonly firstByteMs?: number | undefined;
  readonly attemptMs?: number | undefined;
};
