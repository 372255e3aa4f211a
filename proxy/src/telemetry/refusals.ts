import {
  partOf,
  type RefusalCode,
  reasonOfError,
} from "@svc-gateway/common/telemetry/refusals/refusal-reasons.ts";
import type { ClientConnection } from "../exchange/client-connection.ts";
import { detailsOfHead } from "../http/access-record.ts";
import { addressAsReceived } from "../message/authority.ts";
import { renderReply } from "../message/local-reply.ts";
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
};

const unknownAddress = { authority: "", path: "" };

/** Counts and logs refused requests like all other requests; unknown fields are empty. */
export function createRefusalRecorder(
  usual: Observer,
  metrics: Pick<ProxyMetrics, "requestMetrics" | "refusals">,
): (refusal: Refusal) => void {
  return ({ connection, reason, status, head }) => {
    const method = head?.method ?? "";
    const requestMetrics = metrics.requestMetrics(connection.listener.portLabel, "");
    requestMetrics.count(method, status);
    requestMetrics.observe(0);
    const code = countRefusal(metrics, reason, undefined);
    const { accessLog } = observerOf(undefined, connection.listener, usual);
    if (!accessLog.enabled) return;
    const { authority, path } = head === undefined ? unknownAddress : addressAsReceived(head);
    const { body } = renderReply({ status }, { head: method === "HEAD", grpc: false });
    accessLog.write({
      host: authority,
      method,
      path,
      pattern: "/",
      status,
      routeId: "",
      upstream: "",
      upstreamAddr: "",
      durationMs: 0,
      bytesSent: body.length,
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
