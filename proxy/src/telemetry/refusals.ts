import type { ClientConnection } from "../http/connection.ts";
import { joinedField } from "../http/fields.ts";
import { renderReply } from "../http/local-reply.ts";
import type { RequestHead } from "../http/message.ts";
import type { AccessLog } from "./access-log.ts";
import type { ProxyMetrics } from "./metrics.ts";

/** A request that a front answered by itself, so that the pipeline never saw it. */
export type Refusal = {
  readonly connection: ClientConnection;
  readonly reason: string;
  readonly status: number;
  /** Absent where the bytes were no request. */
  readonly head?: RequestHead;
};

/** Counts and logs refused requests like all others; what is not known of them is empty. */
export function createRefusalRecorder(
  accessLog: AccessLog,
  metrics: Pick<ProxyMetrics, "requestMetrics">,
): (refusal: Refusal) => void {
  return ({ connection, reason, status, head }) => {
    const method = head?.method ?? "";
    metrics.requestMetrics(connection.listener.portLabel, "").count(method, status);
    if (!accessLog.enabled) return;
    const { body } = renderReply({ status, error: reason }, { head: method === "HEAD", grpc: false });
    accessLog.write({
      host: head === undefined ? "" : (head.authority ?? joinedField(head.headers, "host") ?? ""),
      method,
      path: pathOf(head?.target ?? ""),
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
    });
  };
}

/** Without the query, which may hold secrets; empty for targets in another form, which may hold credentials. */
function pathOf(target: string): string {
  if (!target.startsWith("/")) return "";
  const end = target.search(/[?#]/);
  return end < 0 ? target : target.slice(0, end);
}
