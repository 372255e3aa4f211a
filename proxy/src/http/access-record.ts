import type { ClientConnection } from "../exchange/client-connection.ts";
import type { Exchange } from "../exchange/exchange.ts";
import type { Fields } from "../message/fields.ts";
import type { HttpVersion } from "../message/message.ts";
import type { AccessDetails, AccessRecord } from "../telemetry/access-record.ts";
import type { AccessLog } from "../telemetry/access-log.ts";

/** Builds the access log record of a request that has ended, with the additional details that this log shows. */
export function accessRecordOf(exchange: Exchange, log: AccessLog, durationMs: number): AccessRecord {
  const { route } = exchange;
  return {
    host: exchange.authority,
    method: exchange.method,
    path: exchange.matchedPath,
    pattern: route?.pattern ?? "/",
    status: exchange.status,
    routeId: route?.id ?? "",
    upstream: exchange.upstreamService,
    upstreamAddr: exchange.upstreamAddress,
    durationMs,
    bytesSent: exchange.client.bytesSent + exchange.tunnelBytesSent,
    clientIp: exchange.clientIp,
    attempts: exchange.attempts,
    details: log.shows === "usual" ? undefined : detailsOf(exchange),
  };
}

function detailsOf(exchange: Exchange): AccessDetails {
  const { connection, received, version } = exchange;
  const last = exchange.notes?.last;
  return {
    ...detailsOfHead(connection, version, received),
    requestId: exchange.knownRequestId,
    traceId: exchange.trace?.traceId ?? "",
    bytesReceived: exchange.bytesReceived,
    connectMs: last?.connectMs,
    firstByteMs: last?.firstByteMs,
    attemptMs: last?.durationMs,
  };
}

/** Builds the details of a request from its head alone, also for one that was refused before an exchange existed. */
export const detailsOfHead = (
  { listener, tls }: ClientConnection,
  version: HttpVersion | undefined,
  received: Fields | undefined,
): AccessDetails => ({
  requestId: "",
  traceId: "",
  listener: listener.port,
  protocol: version === undefined ? "" : `HTTP/${version}`,
  userAgent: received?.first("user-agent") ?? "",
  referer: received?.first("referer") ?? "",
  bytesReceived: 0,
  tlsVersion: tls?.version ?? "",
  tlsServerName: tls?.serverName ?? "",
});
