import type { SnapshotUpdate } from "@svc-gateway/common/ir/snapshot.ts";
import type { PortMapping } from "@svc-gateway/common/settings/flag-types.ts";
import type { DataPlaneSettings } from "@svc-gateway/common/settings/settings.ts";
import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import type { Result } from "@svc-gateway/common/values/result.ts";
import { createAuthStore } from "./auth/auth-store.ts";
import { prepareCollector } from "./collector.ts";
import { ActiveExchanges } from "./http/active-exchanges.ts";
import type { FrontLimits } from "./http/front.ts";
import { createHttp1Front } from "./http/h1/front.ts";
import { createHttp2Front } from "./http/h2/front.ts";
import { createPipeline } from "./http/pipeline.ts";
import { createListenerManager } from "./listeners/manager.ts";
import { createProxyState, type ApplySummary, type ProxyState } from "./state/proxy-state.ts";
import type { AccessLog } from "./telemetry/access-log.ts";
import { createListenerMetrics } from "./telemetry/listener-metrics.ts";
import type { ProxyMetrics } from "./telemetry/metrics.ts";
import { createUpstreamClient } from "./upstream/client.ts";
import { createUpstreamRegistry } from "./upstream/registry.ts";

export type ProxyOptions = {
  readonly settings: DataPlaneSettings & { readonly portMap?: readonly PortMapping[] | undefined };
  readonly metrics: ProxyMetrics;
  readonly accessLog: AccessLog;
  readonly log: Logger;
  /** Listener ports that are bound, sorted, whenever that changes. */
  readonly onBoundPorts?: (ports: readonly number[]) => void;
};

/** A running data plane: everything from the sockets to the upstreams, steered by snapshots. */
export type Proxy = {
  /** Applies an update whole or not at all. Its sockets are being bound when this returns: see `settled`. */
  apply(update: SnapshotUpdate): Result<ApplySummary>;
  readonly state: Pick<ProxyState, "serving" | "counts">;
  /** Resolves when the listeners of the last update are bound, or have failed to be. */
  settled(): Promise<void>;
  /** Local port of a bound listener port. */
  localPort(port: number): number | undefined;
  /** Lets requests finish (docs/operations.md, "Shutdown"); cuts what is left when the signal aborts. */
  shutdown(hurry: AbortSignal): Promise<void>;
};

const maxSweepIntervalMs = 1_000;
/** Handshakes under way at a time: about half a second of one core's signatures. */
const maxHandshakes = 1_024;
const maxRequestsPerConnection = 10_000;
/** After the signal, while load balancers take notice. */
const acceptAfterSignalMs = 5_000;

/** Creates a data plane that listens on nothing until its first snapshot. */
export function startProxy(options: ProxyOptions): Proxy {
  prepareCollector();
  const { settings, metrics, accessLog, log } = options;
  const client = createUpstreamClient({
    connectTimeoutMs: settings.proxyConnectTimeoutMs,
    maxIdleConnections: settings.proxyUpstreamKeepalivePoolSize,
  });
  const active = new ActiveExchanges({
    streamIdleTimeoutMs: settings.proxyStreamIdleTimeoutMs,
    tunnelIdleTimeoutMs: settings.proxyTunnelIdleTimeoutMs,
    requestTimeoutMs: settings.proxyDefaultRequestTimeoutMs ?? 0,
  });
  const handler = createPipeline({
    client,
    accessLog,
    metrics,
    active,
    via: settings.proxyVia,
    retryBufferBytes: settings.proxyRetryBufferSizeBytes,
    upstreamConnections: {
      opened: metrics.upstreamConnections.with({ state: "new" }),
      reused: metrics.upstreamConnections.with({ state: "reused" }),
    },
  });
  const limits = frontLimitsOf(settings);
  const onEvent = ({ reason, error }: { readonly reason: string; readonly error?: unknown }): void => {
    metrics.limitsReached.with({ limit: reason }).inc();
    if (reason === "handler-failed") log.error({ err: error }, "request failed inside the proxy");
  };
  const listenerMetrics = createListenerMetrics(metrics, log, options.onBoundPorts ?? (() => {}));
  const listeners = createListenerManager({
    bindAddress: settings.proxyBindAddress,
    portMap: new Map(settings.portMap?.map(({ listenerPort, localPort }) => [listenerPort, localPort])),
    maxConnections: settings.proxyMaxConnections,
    drainTimeoutMs: settings.proxyListenerDrainTimeoutMs,
    firstByteTimeoutMs: settings.proxyClientHeaderTimeoutMs,
    tls: {
      minVersion: settings.proxyTlsMinVersion === "1.3" ? "TLSv1.3" : "TLSv1.2",
      handshakeTimeoutMs: settings.proxyTlsHandshakeTimeoutMs,
      maxHandshakes,
    },
    createHttp1Front: () => createHttp1Front({ limits, handler, onEvent }),
    createHttp2Front: () => createHttp2Front({ limits, handler, onEvent }),
    events: listenerMetrics,
    log,
  });
  const upstreams = createUpstreamRegistry({
    retire: (endpoints) => client.retire(endpoints),
    onUsableEndpoints(upstream, usable) {
      if (usable === undefined) metrics.activeUpstreams.remove((labels) => labels.upstream === upstream);
      else metrics.activeUpstreams.with({ upstream }).set(usable);
    },
  });
  const auth = createAuthStore();
  let binding: Promise<void> = Promise.resolve();
  const state = createProxyState({
    upstreams,
    auth,
    metrics,
    log,
    publish(serving) {
      binding = listeners.apply(serving);
    },
  });
  const sweeper = setInterval(() => active.sweep(performance.now()), sweepIntervalOf(settings)).unref();

  return {
    apply: (update) => state.apply(update),
    state,
    settled: () => binding,
    localPort: (port) => listeners.localPort(port),
    async shutdown(hurry) {
      const graceMs = settings.proxyShutdownGracePeriodMs;
      await listeners.shutdown(
        {
          acceptMs: Math.min(acceptAfterSignalMs, graceMs),
          graceMs,
          timeoutMs: settings.proxyShutdownTimeoutMs,
        },
        hurry,
      );
      clearInterval(sweeper);
      listenerMetrics.stop();
      client.close();
      auth.close();
    },
  };
}

/** A limit is noticed at most one sweep late; short limits, as tests set them, are looked at more often. */
function sweepIntervalOf(settings: DataPlaneSettings): number {
  const timeouts = [
    settings.proxyStreamIdleTimeoutMs,
    settings.proxyTunnelIdleTimeoutMs,
    settings.proxyDefaultRequestTimeoutMs ?? 0,
  ].filter((timeoutMs) => timeoutMs > 0);
  return Math.max(20, Math.min(maxSweepIntervalMs, ...timeouts.map((timeoutMs) => timeoutMs / 4)));
}

const frontLimitsOf = (settings: DataPlaneSettings): FrontLimits => ({
  maxUriBytes: settings.proxyMaxUriSizeBytes,
  maxHeaderBytes: settings.proxyMaxHeaderSizeBytes,
  maxHeaders: settings.proxyMaxHeaders,
  maxRequestsPerConnection,
  headerTimeoutMs: settings.proxyClientHeaderTimeoutMs,
  bodyTimeoutMs: settings.proxyClientBodyTimeoutMs,
  idleTimeoutMs: settings.proxyClientIdleTimeoutMs,
  writeTimeoutMs: settings.proxyClientWriteTimeoutMs,
});
