import type { Exchange } from "../exchange/exchange.ts";
import type { AccessRecord } from "../telemetry/access-line.ts";
import { countRefusal } from "../telemetry/refusals.ts";
import type { PipelineDependencies } from "./dependencies.ts";

/** The one place where a request is counted and logged, at its end. */
export function recordRequest(exchange: Exchange, deps: PipelineDependencies): void {
  const durationMs = performance.now() - exchange.startedAtMs;
  const { route, connection, client } = exchange;
  const requestMetrics =
    exchange.routeMetrics ?? deps.metrics.requestMetrics(connection.listener.portLabel, "");
  requestMetrics.count(exchange.method, exchange.status);
  requestMetrics.observe(durationMs / 1000);
  if (exchange.upstreamConnection !== undefined) deps.upstreamConnections[exchange.upstreamConnection].inc();
  const { error } = exchange;
  const reason = error === "" ? undefined : countRefusal(deps.metrics, error, exchange.reason);
  if (!deps.accessLog.enabled || route?.accessLog === false) return;
  const record: AccessRecord = {
    host: exchange.authority,
    method: exchange.method,
    path: exchange.matchedPath,
    pattern: route?.pattern ?? "/",
    status: exchange.status,
    routeId: route?.id ?? "",
    upstream: exchange.upstreamService,
    upstreamAddr: exchange.upstreamAddress,
    durationMs: Math.round(durationMs),
    bytesSent: client.bytesSent + exchange.tunnelBytesSent,
    clientIp: exchange.clientIp,
    attempts: exchange.attempts,
  };
  deps.accessLog.write(reason === undefined ? record : { ...record, error, reason });
}
