import type { RefusalCode } from "@svc-gateway/common/telemetry/refusals/refusal-reasons.ts";

/** What the `path` field shows: the concrete path, the configured path of the rule, or nothing. */
export type AccessLogPathMode = "full" | "pattern" | "none";

/** One finished request (docs/reference/access-log.md). */
export type AccessRecord = {
  readonly host: string;
  readonly method: string;
  /** The concrete normalised path, without query. */
  readonly path: string;
  /** The path of the matched rule as it is configured, `/` without a match. */
  readonly pattern: string;
  readonly status: number;
  /** Empty when no route matched. */
  readonly routeId: string;
  /** `<namespace>/<service>`, empty when the request went to no upstream. */
  readonly upstream: string;
  /** `ip:port` of the last endpoint tried, empty when there was none. */
  readonly upstreamAddr: string;
  readonly durationMs: number;
  /** Bytes of the response body, or of what went to the client over an upgraded connection. */
  readonly bytesSent: number;
  /** A short fixed text; present only on failure. */
  readonly error?: string;
  /** The code of `error` (docs/reference/refusals.md). */
  readonly reason?: RefusalCode;
  /** What led to `error`; absent where nothing more is known. */
  readonly detail?: string | undefined;
  /** True for a copy sent to a mirror. */
  readonly mirror?: boolean;
  readonly clientIp: string;
  /** Upstream attempts, 0 when no upstream was contacted. */
  readonly attempts: number;
  /** What only some logs show; absent: nothing of it is known. */
  readonly details?: AccessDetails | undefined;
};

/** Parts of a request that the usual lines do not show. Texts are as the client sent them, empty where there are none. */
export type AccessDetails = {
  readonly requestId: string;
  readonly traceId: string;
  /** Listener port. */
  readonly listener: number;
  /** `HTTP/1.1`, for example. */
  readonly protocol: string;
  readonly userAgent: string;
  readonly referer: string;
  readonly bytesReceived: number;
  readonly tlsVersion: string;
  readonly tlsServerName: string;
  /** The times of the last attempt in milliseconds from its beginning; absent where nothing is known. */
  readonly connectMs?: number | undefined;
  readonly firstByteMs?: number | undefined;
  readonly attemptMs?: number | undefined;
};
