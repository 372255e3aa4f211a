import type { Exchange } from "../exchange/exchange.ts";
import { observerOf } from "../exchange/observer.ts";
import { countRefusal } from "../telemetry/refusals.ts";
import { realNowMs } from "../timing/real-clock.ts";
import { accessRecordOf } from "./access-record.ts";
import type { PipelineDependencies } from "./dependencies.ts";

/** Counts and logs a request at its end. No other place does so. */
export function recordRequest(exchange: Exchange, deps: PipelineDependencies): void {
  const durationMs = realNowMs() - exchange.startedAtMs;
  const { route, connection } = exchange;
  const requestMetrics =
    exchange.routeMetrics ?? deps.metrics.requestMetrics(connection.listener.portLabel, "");
  requestMetrics.count(exchange.method, exchange.status);
  requestMetrics.observe(durationMs / 1000);
  requestMetrics.transferred(exchange.bytesReceived, exchange.client.bytesSent + exchange.tunnelBytesSent);
  if (exchange.upstreamConnection !== undefined) {
    const { reused, new: opened } = deps.upstreamConnections;
    (exchange.upstreamConnection === "reused" ? reused : opened).inc();
  }
  const { error } = exchange;
  const reason = error === "" ? undefined : countRefusal(deps.metrics, error, exchange.reason);
  const { accessLog, tracer } = observerOf(route, connection.listener, deps.observer);
  if (tracer !== undefined) {
    if (reason !== undefined) exchange.reason = reason;
    // The trace of a request answered before it had a route begins only here, since nothing was sent to a backend.
    exchange.trace ??= tracer.begin(exchange);
    exchange.trace.end(exchange);
  }
  if (!accessLog.enabled || route?.accessLog === false) return;
  const record = accessRecordOf(exchange, accessLog, Math.round(durationMs));
  accessLog.write(reason === undefined ? record : { ...record, error, reason, detail: exchange.detail });
}
