import type { Exchange } from "../exchange/exchange.ts";
import { observerOf } from "../telemetry/observer.ts";
import { countRefusal } from "../telemetry/refusals.ts";
import { accessRecordOf } from "./access-record.ts";
import type { PipelineDependencies } from "./dependencies.ts";

/** The one place where a request is counted and logged, at its end. */
export function recordRequest(exchange: Exchange, deps: PipelineDependencies): void {
  const durationMs = performance.now() - exchange.startedAtMs;
  const { route, connection } = exchange;
  const requestMetrics =
    exchange.routeMetrics ?? deps.metrics.requestMetrics(connection.listener.portLabel, "");
  requestMetrics.count(exchange.method, exchange.status);
  requestMetrics.observe(durationMs / 1000);
  if (exchange.upstreamConnection !== undefined) deps.upstreamConnections[exchange.upstreamConnection].inc();
  const { error } = exchange;
  const reason = error === "" ? undefined : countRefusal(deps.metrics, error, exchange.reason);
  const { accessLog } = observerOf(route, connection.listener, deps.observer);
  if (!accessLog.enabled || route?.accessLog === false) return;
  const record = accessRecordOf(exchange, accessLog, Math.round(durationMs));
  accessLog.write(reason === undefined ? record : { ...record, error, reason });
}
