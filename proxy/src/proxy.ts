import { descriptorLimit } from "@svc-gateway/common/linux/descriptor-limit.ts";
import type { SnapshotUpdate } from "@svc-gateway/common/ir/snapshot.ts";
import type { PortMapping } from "@svc-gateway/common/settings/flag-types.ts";
import type { DataPlaneSettings } from "@svc-gateway/common/settings/settings.ts";
import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import { compileCidrs } from "@svc-gateway/common/values/cidr.ts";
import type { Result } from "@svc-gateway/common/values/result.ts";
import { nodeSockets, type SocketLayer } from "./sockets/socket-layer.ts";
import { createAuthStore } from "./auth/auth-store.ts";
import { ActiveExchanges } from "./http/active-exchanges.ts";
import type { FrontLimits } from "./http/front.ts";
import type { FrontEvent as Http1FrontEvent } from "./http/h1/events.ts";
import { createHttp1Front } from "./http/h1/node/front.ts";
import { createNativeHttp1Front } from "./http/h1/native/front.ts";
import type { Http2FrontEvent } from "./http/h2/events.ts";
import { createHttp2Front } from "./http/h2/node/front.ts";
import { createNativeHttp2Front } from "./http/h2/native/front.ts";
import { createHostQuestions } from "./http/host-questions.ts";
import { GapSweep } from "./http/gap-sweep.ts";
import { Mirrors } from "./http/mirrors.ts";
import { createPipeline } from "./http/pipeline.ts";
import { RequestIds } from "./http/request-ids.ts";
import { ResponseMemory } from "./http/response-memory.ts";
import { createL4 } from "./l4/l4.ts";
import { udpBoundsOf, UdpPlaces } from "./l4/udp-places.ts";
import { ConnectionGate } from "./listeners/connection-gate.ts";
import { createListenerManager } from "./listeners/manager.ts";
import { SilentConnections } from "./listeners/silent-connections.ts";
import { createRateStore } from "./filters/rate-store.ts";
import { ConcurrencyTable } from "./shared/concurrency-table.ts";
import { createSharedMemory, type SharedMemory } from "./shared/shared-memory.ts";
import {
  createProxyState,
  type ApplySummary,
  type ProxyState,
  type StagedState,
} from "./state/proxy-state.ts";
import type { UpdatePart } from "./state/update-part.ts";
import type { AccessLog } from "./telemetry/access-log.ts";
import type { ConnectionLog } from "./telemetry/connection-log.ts";
import { createListenerMetrics } from "./telemetry/listener-metrics.ts";
import type { Observer } from "./exchange/observer.ts";
import { createObserverOf } from "./telemetry/observer.ts";
import type { ProxyMetrics } from "./telemetry/metrics.ts";
import { descriptorShares } from "./worker/descriptor-shares.ts";
import { createRefusalRecorder } from "./telemetry/refusals.ts";
import { awake } from "./timing/awake-clock.ts";
import type { SpanSink } from "./tracing/request-spans.ts";
import { Tracer } from "./tracing/tracer.ts";
import { createUpstreamClient } from "./upstream/upstream-client.ts";
import { OwnPortGuard } from "./upstream/own-port-guard.ts";
import { createResolver } from "./upstream/resolver.ts";
import { monotonicMs } from "./shared/monotonic.ts";
import { BreakerTable } from "./upstream/breaker/breaker-table.ts";
import { createUpstreamRegistry } from "./upstream/upstream-registry.ts";
import { sendSelected } from "./upstream/send-selected.ts";

export type ProxyOptions = {
  readonly settings: DataPlaneSettings & { readonly portMap?: readonly PortMapping[] | undefined };
  readonly metrics: ProxyMetrics;
  readonly accessLog: AccessLog;
  /** Logs connections below HTTP; if absent, they are not logged. */
  readonly connectionLog?: ConnectionLog | undefined;
  /** Receives the spans of traced requests; if absent, none are traced. */
  readonly spanSink?: SpanSink | undefined;
  readonly log: Logger;
  /** The implementation of sockets; Node's public sockets when absent. */
  readonly sockets?: SocketLayer;
  /** Logs snapshots and listeners, which are the same in all workers; `log` when absent. */
  readonly snapshotLog?: Logger;
  /** The maximum number of bytes of responses that wait for clients in this worker; unlimited when absent. */
  readonly responseMemoryBytes?: number;
  /** The place among the workers of a proxy; the only worker when absent. */
  readonly workerPlace?: WorkerPlace;
  /** Called with the listener ports that are bound, sorted, whenever they change. */
  readonly onBoundPorts?: (ports: readonly number[]) => void;
};

/** One worker among those that serve the same listeners. */
export type WorkerPlace = {
  readonly worker: number;
  readonly workers: number;
  readonly memory: SharedMemory;
};

/** A running data plane: everything from the sockets to the upstreams, configured by snapshots. */
export type Proxy = {
  /** Applies an update completely or not at all. Its sockets are still being bound when this returns: see `settled`. */
  apply(update: SnapshotUpdate): Result<ApplySummary>;
  /** The first half of `apply`, asynchronously; the second half is `commit` of the result. */
  stage(update: SnapshotUpdate): Promise<Result<StagedState>>;
  /** Reads a part of the update that is staged next: see `ProxyState`. */
  read(part: UpdatePart): void;
  /** Discards the parts that were read. */
  forget(): void;
  readonly state: Pick<ProxyState, "serving" | "counts">;
  /** Resolves when the listeners of the last update are bound or have failed to bind. */
  settled(): Promise<void>;
  /** The local port of a bound listener port. */
  localPort(port: number): number | undefined;
  /** The local ports of all bound listeners. */
  localPorts(): readonly PortMapping[];
  /** The local ports of the UDP listeners among them. */
  udpPorts(): readonly PortMapping[];
  /** Sets local ports for new listeners, such as free ports that another worker has chosen. */
  useLocalPorts(ports: readonly PortMapping[]): void;
  /** Lets requests finish (docs/operations.md, "Shutdown"); aborts the remaining ones when the signal does. */
  shutdown(hurry: AbortSignal, how?: ShutdownMode): Promise<void>;
};

/** Whether connections are accepted for a while, so that load balancers notice (`announced`), or not (`at-once`). */
export type ShutdownMode = "announced" | "at-once";

const maxSweepIntervalMs = 1_000;
/** The maximum number of concurrent handshakes: about half a second of signatures on one core. */
const maxHandshakes = 1_024;
/** The time limit for the whole PROXY protocol header of a connection. */
const proxyHeaderTimeoutMs = 5_000;
const maxRequestsPerConnection = 10_000;
/** How long connections are accepted after the signal, while load balancers notice the shutdown. */
const acceptAfterSignalMs = 5_000;

/** Creates a data plane that listens on nothing until its first snapshot. */
export function startProxy(options: ProxyOptions): Proxy {
  const { settings, metrics, accessLog, log, snapshotLog = log } = options;
  const { worker, workers, memory } = options.workerPlace ?? {
    worker: 0,
    workers: 1,
    memory: createSharedMemory(1),
  };
  const { sockets = nodeSockets } = options;
  const descriptors = descriptorShares(descriptorLimit(), workers);
  const resolver = createResolver({
    onQuery: (outcome) => metrics.upstreamNameQueries.with({ outcome }).inc(),
  });
  const ownPorts = new OwnPortGuard(settings);
  const client = createUpstreamClient({
    connectTimeoutMs: settings.proxyConnectTimeoutMs,
    resolver,
    ownPorts,
    http2Codec: settings.http2Codec,
    sockets,
    maxIdleConnections: shareOf(
      Math.min(settings.proxyUpstreamKeepalivePoolSize, descriptors.idleUpstreams),
      worker,
      workers,
    ),
  });
  const active = new ActiveExchanges({
    streamIdleTimeoutMs: settings.proxyStreamIdleTimeoutMs,
    tunnelIdleTimeoutMs: settings.proxyTunnelIdleTimeoutMs,
    requestTimeoutMs: settings.proxyDefaultRequestTimeoutMs ?? 0,
  });
  let cutClients = 0;
  const responseMemory = new ResponseMemory(options.responseMemoryBytes, () => {
    metrics.limitsReached.with({ limit: "response-memory" }).inc();
    cutClients++;
  });
  const gapSweep = new GapSweep();
  const observer: Observer = { accessLog, tracer: tracerOf(options) };
  const observerOf = createObserverOf(observer);
  const { requestIdHeader } = settings;
  const mirrors = new Mirrors({ client, observer, metrics, log });
  const handler = createPipeline({
    mirrors,
    log,
    client,
    observer,
    requestIds:
      requestIdHeader === undefined
        ? undefined
        : new RequestIds(requestIdHeader, settings.requestIdTrustedCidrs),
    metrics,
    active,
    gapSweep,
    via: settings.proxyVia,
    retryBufferBytes: settings.proxyRetryBufferSizeBytes,
    responseMemory,
    upstreamConnections: {
      new: metrics.upstreamConnections.with({ state: "new" }),
      reused: metrics.upstreamConnections.with({ state: "reused" }),
    },
  });
  const l4 = createL4({
    connections: {
      connectTimeoutMs: settings.proxyConnectTimeoutMs,
      idleTimeoutMs: settings.proxyTunnelIdleTimeoutMs,
      sockets,
      responseMemory,
      resolver,
      ownPorts,
      metrics,
    },
    udp: {
      idleTimeoutMs: settings.proxyUdpSessionTimeoutMs,
      places: new UdpPlaces(udpBoundsOf(descriptors.udpSessions, (total) => shareOf(total, worker, workers))),
      resolver,
      ownPorts,
      metrics,
      now: () => awake.nowMs,
      log: options.connectionLog,
    },
  });
  const limits = frontLimitsOf(settings);
  const recordRefusal = createRefusalRecorder(observer, metrics);
  const onEvent = (event: Http1FrontEvent | Http2FrontEvent): void => {
    metrics.limitsReached.with({ limit: event.reason }).inc();
    if (event.status > 0) recordRefusal(event);
    if (event.reason === "handler-failed") log.error({ err: event.error }, "request failed inside the proxy");
  };
  const listenerMetrics = createListenerMetrics(metrics, log, options.onBoundPorts ?? (() => {}));
  const portMap = new Map(settings.portMap?.map(({ listenerPort, localPort }) => [listenerPort, localPort]));
  const listeners = createListenerManager({
    bindAddress: settings.proxyBindAddress,
    portMap,
    reusePort: workers > 1,
    gate: new ConnectionGate(settings.proxyMaxConnections, memory.connections, worker),
    silent: new SilentConnections(settings.proxyMaxConnections, workers),
    maxConnections: settings.proxyMaxConnectionsPerListener,
    drainTimeoutMs: settings.proxyListenerDrainTimeoutMs,
    firstByteTimeoutMs: settings.proxyClientHeaderTimeoutMs,
    proxyProtocol: {
      accepted: settings.proxyAcceptProxyProtocol,
      trustedPeers: compileCidrs(settings.proxyProtocolTrustedCidrs),
      timeoutMs: proxyHeaderTimeoutMs,
    },
    tls: {
      minVersion: settings.proxyTlsMinVersion === "1.3" ? "TLSv1.3" : "TLSv1.2",
      handshakeTimeoutMs: settings.proxyTlsHandshakeTimeoutMs,
      maxHandshakes,
    },
    acceptor: sockets.acceptor,
    l4,
    observerOf,
    connectionLog: options.connectionLog,
    sayEnd: (listener) => active.sayEnd(listener),
    createHttp1Front: () =>
      http1FrontOf[settings.http1Codec]({ limits, handler, onEvent, responseMemory }, sockets),
    createHttp2Front: () =>
      http2FrontOf[settings.http2Codec]({ limits, handler, onEvent, responseMemory }, sockets),
    events: listenerMetrics,
    reportsFailures: worker === 0,
    log: snapshotLog,
  });
  const upstreams = createUpstreamRegistry({
    breakers: {
      table: new BreakerTable(memory.breakers),
      nowMs: () => Math.floor(monotonicMs()),
      metrics,
    },
    retire(endpoints) {
      client.retire(endpoints);
      l4.retire(endpoints);
    },
    usableEndpoints: {
      set: (upstream, count) => metrics.activeUpstreams.with({ upstream }).set(count),
      retain: (isPresent) => metrics.activeUpstreams.remove(({ upstream }) => !isPresent(upstream)),
    },
  });
  const auth = createAuthStore({
    sendCheck: (selection, request, receiver) => sendSelected(client, selection, request, receiver),
    askHost: createHostQuestions(handler, () => listeners.views()),
    share: 1 / workers,
    countLimit: (limit) => metrics.limitsReached.with({ limit }).inc(),
  });
  metrics.beforeExport(() => {
    upstreams.refreshGauges();
    metrics.responseWaitingBytes.with({}).set(responseMemory.heldBytes);
  });
  let binding: Promise<void> = Promise.resolve();
  const state = createProxyState({
    upstreams,
    auth,
    ownPorts,
    metrics,
    rates: createRateStore(memory.rates),
    concurrency: new ConcurrencyTable(memory.concurrency, worker),
    log: snapshotLog,
    defaultBackendTimeoutMs: settings.proxyDefaultBackendRequestTimeoutMs,
    observerOf,
    publish(serving) {
      binding = listeners.apply(serving);
    },
  });
  const unwatch = awake.watch();
  const sweeper = setInterval(() => {
    awake.look();
    active.sweep(awake.nowMs);
    responseMemory.relieve();
    if (cutClients > 0) {
      log.warn(
        { clients: cutClients, held_bytes: responseMemory.heldBytes, max_bytes: responseMemory.maxBytes },
        "waiting responses filled their memory: clients cut that had taken nothing for longest",
      );
      cutClients = 0;
    }
    l4.sweep();
    // The real clock, because upstreams count the idle time of connections even while this process cannot run.
    client.closeExpired(performance.now());
  }, sweepIntervalOf(settings)).unref();

  return {
    apply: (update) => state.apply(update),
    stage: (update) => state.stage(update),
    read: (part) => state.read(part),
    forget: () => state.forget(),
    state,
    settled: () => binding,
    localPort: (port) => listeners.localPort(port),
    localPorts: () =>
      listeners.boundPorts().map((listenerPort) => ({
        listenerPort,
        localPort: listeners.localPort(listenerPort) ?? listenerPort,
      })),
    udpPorts: () => listeners.udpPorts(),
    useLocalPorts(ports) {
      for (const { listenerPort, localPort } of ports) portMap.set(listenerPort, localPort);
    },
    async shutdown(hurry, how = "announced") {
      const graceMs = settings.proxyShutdownGracePeriodMs;
      await listeners.shutdown(
        {
          acceptMs: how === "at-once" ? 0 : Math.min(acceptAfterSignalMs, graceMs),
          graceMs,
          timeoutMs: settings.proxyShutdownTimeoutMs,
        },
        hurry,
      );
      active.end();
      clearInterval(sweeper);
      gapSweep.stop();
      unwatch();
      listenerMetrics.stop();
      client.close();
      auth.close();
    },
  };
}

function tracerOf({ settings, spanSink, metrics }: ProxyOptions): Tracer | undefined {
  if (spanSink === undefined) return undefined;
  const dropped = metrics.traceSpansDropped.with({ reason: "worker-full" });
  return new Tracer({
    ratio: settings.tracingRatio,
    followsCaller: settings.tracingFollowCaller,
    trustedPeers: settings.tracingTrustedCidrs,
    sink: spanSink,
    onDropped: (spans) => dropped.inc(spans),
  });
}

/** The fronts of each codec. */
const http1FrontOf = { node: createHttp1Front, native: createNativeHttp1Front };
const http2FrontOf = { node: createHttp2Front, native: createNativeHttp2Front };

/** The share of a worker in a bound of the whole proxy. */
const shareOf = (total: number, worker: number, workers: number): number =>
  Math.floor(total / workers) + (worker < total % workers ? 1 : 0);

/** The interval of sweeps, by which the enforcement of a limit can be late; shorter for short limits, as in tests. */
function sweepIntervalOf(settings: DataPlaneSettings): number {
  const timeouts = [
    settings.proxyStreamIdleTimeoutMs,
    settings.proxyTunnelIdleTimeoutMs,
    settings.proxyUdpSessionTimeoutMs,
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
