import type { ProxyMetrics } from "../telemetry/metrics.ts";
import type { ServedName } from "../tls/certificate-store.ts";
import type { ListenerEvents } from "./events.ts";

export type ListenerMetrics = Omit<ListenerEvents, "onBoundPorts"> & {
  /** Brings the gauges that change with time up to date; called before the metrics are read. */
  refresh(nowMs: number): void;
};

const buckets = ["exact", "wildcard", "default"] as const;

/** Turns what listeners tell into the metrics of docs/reference/metrics.md. */
export function createListenerMetrics(metrics: ProxyMetrics): ListenerMetrics {
  let served: readonly ServedName[] = [];

  const refresh = (nowMs: number): void => {
    for (const [sni, notAfterMs] of earliestExpiries(served)) {
      metrics.tlsCertExpiry.with({ sni }).set(Math.round((notAfterMs - nowMs) / 1000));
    }
  };

  return {
    onLifecycle: (event) => metrics.listenerLifecycle.with({ event }).inc(),
    onDrained: (durationMs) => metrics.listenerDrainDuration.with({}).observe(durationMs / 1000),
    onListeners({ serving, draining }) {
      metrics.listenersActive.with({ state: "serving" }).set(serving);
      metrics.listenersActive.with({ state: "draining" }).set(draining);
    },
    onConnectionOpened(listener) {
      metrics.connections.with({ listener }).inc();
      metrics.connectionsActive.with({ listener }).inc();
    },
    onConnectionClosed(listener, durationMs) {
      metrics.connectionsActive.with({ listener }).dec();
      metrics.connectionDuration.with({ listener }).observe(durationMs / 1000);
    },
    onConnectionRefused: () => metrics.limitsReached.with({ limit: "connections" }).inc(),
    onRequestsForceClosed: (reason, requests) => metrics.requestsForceClosed.with({ reason }).inc(requests),
    onHandshake({ result, version, reason }) {
      metrics.tlsHandshakes.with({ result, version }).inc();
      if (reason === "too many handshakes") metrics.limitsReached.with({ limit: "handshakes" }).inc();
      if (reason === "timeout") metrics.limitsReached.with({ limit: "handshake-timeout" }).inc();
    },
    onServedNames(names) {
      served = names;
      for (const bucket of buckets) {
        const loaded = names.filter((name) => name.bucket === bucket).length;
        metrics.tlsCertsLoaded.with({ bucket }).set(loaded);
      }
      const present = new Set(names.map(({ name }) => name));
      metrics.tlsCertExpiry.remove(({ sni }) => !present.has(sni));
      refresh(Date.now());
    },
    refresh,
  };
}

/** A name may be served on several ports with different certificates: the first one to expire is shown. */
function earliestExpiries(names: readonly ServedName[]): ReadonlyMap<string, number> {
  const expiries = new Map<string, number>();
  for (const { name, notAfterMs } of names) {
    expiries.set(name, Math.min(notAfterMs, expiries.get(name) ?? Number.POSITIVE_INFINITY));
  }
  return expiries;
}
