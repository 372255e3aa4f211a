import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import type { ListenerEvents } from "../listeners/listener-events.ts";
import type { ServedName } from "../tls/certificate-store.ts";
import { reportCertificates } from "./certificate-gauges.ts";
import type { ProxyMetrics } from "./metrics.ts";

/** The interval for updating the certificate gauges, since certificates age without events. */
const certificateIntervalMs = 30_000;

/** The metrics of listeners, connections and handshakes, fed by the events of listeners (docs/reference/metrics.md). */
export function createListenerMetrics(
  metrics: ProxyMetrics,
  log: Logger,
  onBoundPorts: (ports: readonly number[]) => void,
): ListenerEvents & { stop(): void } {
  let names: readonly ServedName[] = [];
  const timer = setInterval(() => reportCertificates(metrics, names), certificateIntervalMs).unref();
  reportCertificates(metrics, names);
  return {
    onLifecycle: (event) => metrics.listenerLifecycle.with({ event }).inc(),
    onDrained: (durationMs) => metrics.listenerDrainDuration.with({}).observe(durationMs / 1000),
    onListeners({ serving, draining }) {
      metrics.listenersActive.with({ state: "serving" }).set(serving);
      metrics.listenersActive.with({ state: "draining" }).set(draining);
    },
    onBoundPorts,
    onConnectionOpened(listener) {
      metrics.connections.with({ listener }).inc();
      metrics.connectionsActive.with({ listener }).inc();
    },
    onConnectionClosed(listener, durationMs) {
      metrics.connectionsActive.with({ listener }).dec();
      metrics.connectionDuration.with({ listener }).observe(durationMs / 1000);
    },
    onConnectionRefused: (_, limit) => metrics.limitsReached.with({ limit }).inc(),
    // Counted under the same limit as connections that a front closes because they are silent.
    onFirstByteTimeout: () => metrics.limitsReached.with({ limit: "header-timeout" }).inc(),
    onSilentConnectionEnded: () => metrics.limitsReached.with({ limit: "silent-connections" }).inc(),
    onProxyHeaderRefused: (reason) => metrics.limitsReached.with({ limit: reason }).inc(),
    onRequestsForceClosed: (reason, requests) => metrics.requestsForceClosed.with({ reason }).inc(requests),
    onHandshake({ result, version, reason }) {
      metrics.tlsHandshakes.with({ result, version }).inc();
      if (reason === "too many handshakes") metrics.limitsReached.with({ limit: "tls-handshakes" }).inc();
      if (reason !== undefined) log.debug({ reason }, "TLS handshake failed");
    },
    onServedNames(served) {
      names = served;
      reportCertificates(metrics, names);
    },
    stop: () => clearInterval(timer),
  };
}
