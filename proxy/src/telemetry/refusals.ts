import {
  partOf,
  type RefusalCode,
  reasonOfError,
} from "@svc-gateway/common/telemetry/refusals/refusal-reasons.ts";
import type { ClientConnection } from "../exchange/client-connection.ts";
import { detailsOfHead } from "../http/access-record.ts";
import { addressAsReceived } from "../message/authority.ts";
import type { RequestHead } from "../message/message.ts";
import type { ProxyMetrics } from "./metrics.ts";
import { type Observer, observerOf } from "../exchange/observer.ts";

/** A request that a front answered itself, without passing it to the pipeline. */
export type Refusal = {
  readonly connection: ClientConnection;
  readonly reason: string;
  readonly status: number;
  /** The head of the request; absent if the bytes were not a request. */
  readonly head?: RequestHead;
  /** The time since the first byte of the request, in milliseconds; absent if it is not measured. */
  readonly durationMs?: number;
  /** The bytes of the body of the answer; absent if it has none. */
  readonly bytesSent?: number;
};

const unknownAddress = { authority: "", path: "" };

/** Counts and logs refused requests like all other requests; unknown fields are empty. */
export function createRefusalRecorder(
  usual: Observer,
  metrics: Pick<ProxyMetrics, "requestMetrics" | "refusals">,
): (refusal: Refusal) => void {
  return ({ connection, reason, status, head, durationMs = 0, bytesSent = 0 }) => {
    const method = head?.method ?? "";
    const requestMetrics = metrics.requestMetrics(connection.listener.portLabel, "");
    requestMetrics.count(method, status);
    requestMetrics.observe(durationMs / 1000);
    const code = countRefusal(metrics, reason, undefined);
    const { accessLog } = observerOf(undefined, connection.listener, usual);
    if (!accessLog.enabled) return;
    const { authority, path } = head === undefined ? unknownAddress : addressAsReceived(head);
    accessLog.write({
      host: authority,
      method,
      path,
      pattern: "/",
      status,
      routeId: "",
      upstream: "",
      upstreamAddr: "",
      durationMs: Math.round(durationMs),
      bytesSent,
      clientIp: connection.remoteAddress,
      attempts: 0,
      error: reason,
      reason: code,
      details:
        accessLog.shows === "usual" ? undefined : detailsOfHead(connection, head?.version, head?.headers),
    });
  };
}

/** Counts a request that failed in the proxy, and returns the code of its reason. */
export function countRefusal(
  { refusals }: Pick<ProxyMetrics, "refusals">,
  error: string,
  reason: RefusalCode | undefined,
): RefusalCode {
  const code = reason ?? reasonOfError(error) ?? "filter-failed";
  refusals.with({ filter: partOf(code), reason: code }).inc();
  return code;
}
