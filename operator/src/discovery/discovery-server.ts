import { monotonicClock, systemClock, type Clock } from "@svc-gateway/common/time/clock.ts";
import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import { ok, problem, type Problem, type Result } from "@svc-gateway/common/values/result.ts";
import { controllerServiceAccount } from "@svc-gateway/proto/identity.ts";
import type { Keepalive } from "@svc-gateway/proto/wire.ts";
import type { BootstrapReason, ReviewToken } from "./bootstrap.ts";
import { createBootstrapServer } from "./bootstrap-server.ts";
import { createCaKeeper, type CaKeeper } from "./ca-keeper.ts";
import type { CaStore } from "./ca-store.ts";
import { createFleet, type Fleet, type FleetNode } from "./fleet.ts";
import type { LeadershipState } from "./leadership-state.ts";
import type { DiscoveryServerMetrics } from "@svc-gateway/common/telemetry/metric-declarations.ts";
import { createExpectedPrincipals, type DedicatedGateway } from "./principals.ts";
import { createServerIdentity, serviceDnsNames } from "./server-identity.ts";
import { createSnapshotCache, type SnapshotCache } from "./snapshot-cache.ts";
import { createStreamServer, type StreamLimits } from "./stream-server.ts";

export type DiscoveryServerOptions = {
  /** The address to listen on; if absent, all addresses. */
  readonly host?: string;
  readonly streamPort: number;
  readonly bootstrapPort: number;
  readonly installNamespace: string;
  /** The headless Service of the controllers. */
  readonly service: string;
  readonly trustDomain: string;
  readonly caMode: "auto" | "external";
  readonly svidLifetimeMs: number;
  readonly sharedProxyServiceAccount: string;
  /** The Gateways that have dedicated proxies now. */
  readonly dedicatedGateways: () => Iterable<DedicatedGateway>;
  readonly caStore: CaStore;
  readonly reviewToken: ReviewToken;
  readonly leadership: LeadershipState;
  readonly metrics: DiscoveryServerMetrics;
  readonly log: Logger;
  /** Called for the Event `BootstrapRejected`, at most ten times in any minute. */
  readonly onBootstrapRejected?: (rejection: {
    readonly reason: BootstrapReason;
    readonly principal: string;
  }) => void;
  readonly clock?: Clock;
  readonly keepalive?: Keepalive;
  readonly streamLimits?: StreamLimits;
};

/** The controller's side of the discovery channel. */
export type DiscoveryServer = {
  /** The cache to publish snapshots to; streams are refused until the first publication. */
  readonly cache: SnapshotCache;
  readonly fleet: Fleet;
  /** Whether a certificate authority and a server certificate signed by it exist; without them nothing is served. */
  isReady(): boolean;
  /** The roots that proxies must trust, PEM, to be copied beside dedicated Gateways. */
  trustBundlePem(): string | undefined;
  /** Calls back after readiness or the trust bundle has changed; the returned function ends that. */
  subscribe(listener: () => void): () => void;
  /** Binds both ports and starts to keep the certificate authority. */
  listen(): Promise<Result<{ readonly streamPort: number; readonly bootstrapPort: number }>>;
  /** Updates the metrics that change with time alone; called before each export. */
  refreshMetrics(): void;
  /** Ends all streams, so that proxies immediately connect to another replica, and closes both ports. */
  close(): Promise<void>;
};

/** Assembles the controller's side of the channel. See docs/discovery.md. */
export function createDiscoveryServer(options: DiscoveryServerOptions): DiscoveryServer {
  const { installNamespace, trustDomain, svidLifetimeMs, leadership, log, clock = systemClock } = options;
  const keeper = createCaKeeper({
    store: options.caStore,
    mode: options.caMode,
    trustDomain,
    svidLifetimeMs,
    isLeading: leadership.isLeading,
    log,
    clock,
  });
  const identity = createServerIdentity({
    keeper,
    identity: { namespace: installNamespace, serviceAccount: controllerServiceAccount },
    dnsNames: serviceDnsNames(options.service, installNamespace),
    lifetimeMs: svidLifetimeMs,
    log,
    clock,
  });
  const principals = createExpectedPrincipals({
    shared: { namespace: installNamespace, serviceAccount: options.sharedProxyServiceAccount },
    dedicated: options.dedicatedGateways,
  });
  const cache = createSnapshotCache();
  const fleet = createFleet(cache, options.clock ?? monotonicClock);
  const common = { ...options, keeper, identity, principals, clock };
  const streams = createStreamServer({
    ...common,
    cache,
    fleet,
    port: options.streamPort,
    ...(options.streamLimits !== undefined && { limits: options.streamLimits }),
  });
  const bootstraps = createBootstrapServer({
    ...common,
    port: options.bootstrapPort,
    ...(options.onBootstrapRejected !== undefined && { onRejected: options.onBootstrapRejected }),
  });
  // A new leader creates what is missing in the store.
  const unsubscribe = leadership.subscribe(() => void keeper.reconcile());
  return {
    cache,
    fleet,
    isReady: () => keeper.current() !== undefined && identity.current() !== undefined,
    trustBundlePem: () => keeper.current()?.bundlePem,
    subscribe(listener) {
      const leave = [keeper.subscribe(listener), identity.subscribe(listener)];
      return () => {
        for (const one of leave) one();
      };
    },
    async listen() {
      const [streamPort, bootstrapPort] = await Promise.all([streams.listen(), bootstraps.listen()]);
      if (!streamPort.ok) return notBound("--discovery-port", streamPort.error);
      if (!bootstrapPort.ok) return notBound("--discovery-bootstrap-port", bootstrapPort.error);
      void keeper.reconcile();
      return ok({ streamPort: streamPort.value, bootstrapPort: bootstrapPort.value });
    },
    refreshMetrics: () => refreshMetrics(options.metrics, fleet, keeper, clock.nowMs()),
    async close() {
      unsubscribe();
      keeper.stop();
      identity.stop();
      await Promise.all([streams.close(), bootstraps.close()]);
    },
  };
}

function refreshMetrics(
  { proxyBehind, proxyUnknownFields, authorityExpiry }: DiscoveryServerMetrics,
  fleet: Fleet,
  keeper: CaKeeper,
  nowMs: number,
): void {
  const proxies = new Map(
    fleet.nodes().map((node): [string, FleetNode] => [`${node.identity.namespace}/${node.nodeId}`, node]),
  );
  for (const metric of [proxyBehind, proxyUnknownFields]) metric.remove(({ proxy }) => !proxies.has(proxy));
  for (const [proxy, { behindMs, unknownFields }] of proxies) {
    proxyBehind.with({ proxy }).set(behindMs / 1000);
    proxyUnknownFields.with({ proxy }).set(unknownFields.length);
  }
  const authority = keeper.current()?.authority;
  if (authority !== undefined)
    authorityExpiry.with({}).set(Math.round((authority.notAfterMs - nowMs) / 1000));
}

const notBound = (flag: string, { message }: Problem): Result<never> =>
  problem(`${flag}: the port cannot be bound: ${message}`);
