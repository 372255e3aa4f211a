import { getHeapStatistics } from "node:v8";
import { joinLists } from "@svc-gateway/common/collections/join-lists.ts";
import { createOwnPortCheck } from "@svc-gateway/common/ir/own-port-check.ts";
import { noOwnPorts } from "@svc-gateway/common/ir/own-ports.ts";
import type { ControllerSettings } from "@svc-gateway/common/settings/settings.ts";
import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import type { controllerMetrics } from "@svc-gateway/common/telemetry/metric-declarations.ts";
import type { MetricSet } from "@svc-gateway/common/telemetry/metric-set.ts";
import { monotonicClock } from "@svc-gateway/common/time/clock.ts";
import type { GatewayPods } from "../admin/gateway-pods.ts";
import type { KindName } from "../api/kinds.ts";
import { createCoalescer } from "../build/coalescer.ts";
import { createDiagnosticLog } from "../build/diagnostic-log.ts";
import { leftOutFindings } from "../build/left-out-objects.ts";
import { createSizeReport } from "../build/size-report.ts";
import { createTableBuilder, type Build, type ScopedSnapshot } from "../build/table-builder.ts";
import type { Fleet } from "../discovery/fleet.ts";
import type { DedicatedGateway } from "../discovery/principals.ts";
import { fetchJson } from "../jwks/fetch-json.ts";
import { createKeySetKeeper } from "../jwks/key-set-keeper.ts";
import { countKeySets } from "../jwks/key-set-metrics.ts";
import { createTicketKeyKeeper, ticketKeySecret } from "../keys/ticket-key-keeper.ts";
import type { Leadership } from "../lifecycle/leadership.ts";
import type { WatchHealth } from "../lifecycle/watch-health.ts";
import { createReconcilers } from "../reconcilers/index.ts";
import { prepareReconcileMetrics } from "../reconcilers/run-reconcilers.ts";
import type { ApiClient } from "../sources/kubernetes/api-client.ts";
import { startClusterSource } from "../sources/kubernetes/cluster-source.ts";
import { followGatewayFields } from "../sources/kubernetes/gateway-fields.ts";
import { pathOfObject, type InstalledKind } from "../sources/kubernetes/installed-kinds.ts";
import {
  followIngressNginxLeases,
  noIngressNginxLeases,
} from "../sources/kubernetes/ingress-nginx-leases.ts";
import { followNodeAddresses, noNodeAddresses } from "../sources/kubernetes/node-addresses.ts";
import { followProvisionedObjects, nothingProvisioned } from "../sources/kubernetes/provisioned-objects.ts";
import { fallbackSecret } from "../translate/ingress-nginx/fallback-certificate.ts";
import { sessionKeySecret } from "../translate/backends/session-key.ts";
import { optionalFields } from "../translate/gateway/status/supported-features.ts";
import { defaultTranslateSettings } from "../translate/settings.ts";
import type { EventSource } from "../write/event-object.ts";
import { createStatusWriter } from "../write/status-writer.ts";
import { createLeaderWork } from "./leader-work.ts";
import { assumedObjects } from "./cluster-scope.ts";
import {
  clusterTranslateSettings,
  dedicatedSettingsOf,
  ownPortsOf,
  readNamespacesOf,
  servedNamespacesOf,
  vipSettingsOf,
} from "./translate-settings.ts";

export type ClusterPipelineOptions = {
  readonly client: ApiClient;
  readonly kinds: readonly InstalledKind[];
  readonly settings: ControllerSettings;
  readonly leadership: Leadership;
  readonly events: EventSource;
  readonly watchHealth: WatchHealth;
  readonly fleet: Pick<Fleet, "isProgrammed" | "subscribe">;
  /** The ports of the gateway's pods; undefined until they are known. */
  readonly ownPorts: Pick<GatewayPods, "current" | "subscribe">;
  readonly publish: (snapshots: readonly ScopedSnapshot[]) => void;
  /** Called before anything is published, with the Gateways that have dedicated proxies. */
  readonly admit: (dedicated: Iterable<DedicatedGateway>) => void;
  readonly onBuild: (build: Build) => void;
  readonly metrics: MetricSet<typeof controllerMetrics>;
  readonly log: Logger;
  readonly signal: AbortSignal;
};

/** The Service of the shared proxies in the install namespace; the chart creates it under this name. */
const sharedProxyService = "svc-shared-proxy";
/** The Secrets of keys that the leader creates and every replica passes to its proxies. */
const ownSecrets = [sessionKeySecret, ticketKeySecret, fallbackSecret];
/** The divisor of the heap size for the objects of one namespace, which may use one tenth of it. */
const heapShares = 10;
/** The interval of builds that find expired certificates, which cause no event. */
const expiryCheckMs = 60 * 60_000;

/**
 * Connects the API server to snapshots, statuses and Events: watches, builds, publication, and the writes of the
 * leader. Resolves when all of them have ended after the signal.
 */
export async function runClusterPipeline(options: ClusterPipelineOptions): Promise<void> {
  const { client, kinds, settings, watchHealth, metrics, log, signal } = options;
  const vips = vipSettingsOf(settings);
  const installed = new Map(kinds.map((kind) => [kind.kind, kind]));
  const controllerName = settings.controllerName;
  // The objects of Gateways are followed only where there can be Gateways.
  const hasGateways = installed.has("Gateway");
  const dedicated = dedicatedSettingsOf(settings);
  const provisioned = !hasGateways
    ? undefined
    : dedicated === undefined
      ? nothingProvisioned
      : followProvisionedObjects({
          client,
          controllerName,
          namespaces: servedNamespacesOf(settings),
          log,
          signal,
        });
  const nodes = !hasGateways
    ? undefined
    : settings.disableClusterScope
      ? noNodeAddresses
      : followNodeAddresses({ client, log, signal });
  const gatewayFields = hasGateways
    ? followGatewayFields({ client, fields: optionalFields, log, signal })
    : undefined;
  const ingressNginx =
    settings.disableIngress || settings.ingressNginxClasses.length === 0
      ? noIngressNginxLeases
      : followIngressNginxLeases({ client, namespaces: readNamespacesOf(settings), log, signal });
  const reconcilers = createReconcilers({
    client,
    installed: new Set(installed.keys()),
    installNamespace: settings.podNamespace,
    controllerName,
    observed: (kind, name) => source.observed(kind, name),
    servedNamespaces: servedNamespacesOf(settings) ?? settings.watchNamespace,
    fleet: options.fleet,
    vips,
    provisioned,
    hasDedicated: dedicated !== undefined,
    nodes,
    gatewayFields,
    statusAddress: settings.statusAddress,
    sharedProxyService: { namespace: settings.podNamespace, name: sharedProxyService },
  });
  prepareReconcileMetrics(reconcilers, metrics);
  // Series exist at zero from the start, so that the first error is an increase.
  for (const { kind } of kinds) metrics.watchErrors.with({ kind: kind.toLowerCase() });
  const pathOf = (kind: KindName, name: string): string | undefined => {
    const found = installed.get(kind);
    return found === undefined ? undefined : pathOfObject(found, name);
  };

  const source = startClusterSource({
    client,
    kinds,
    namespaces: readNamespacesOf(settings),
    assumed: assumedObjects(settings),
    ownSecrets: ownSecrets.map((name) => ({ namespace: settings.podNamespace, name })),
    readsPlainSecrets: settings.ingressNginxClasses.length > 0,
    namedSecrets: settings.defaultTlsSecret === undefined ? [] : [settings.defaultTlsSecret],
    maxNamespaceBytes: Math.floor(getHeapStatistics().heap_size_limit / heapShares),
    log,
    signal,
    onDirty: () => coalescer.markDirty(),
    onObserved: (kind, name) => leaderWork.onObserved(kind, name),
    onWatch: watchHealth.onWatch,
    onEvent: (kind, event) => metrics.watchEvents.with({ kind: kind.toLowerCase(), event }).inc(),
    onError: (kind) => metrics.watchErrors.with({ kind: kind.toLowerCase() }).inc(),
  });
  const statuses = createStatusWriter({ client, source, pathOf, metrics });
  const leaderWork = createLeaderWork({
    ...options,
    reconcilers,
    statuses,
    isWritten: source.isWritten,
    writesClusterEvents: !settings.disableClusterScope,
  });
  const ticketKeys = createTicketKeyKeeper({ ...options, namespace: settings.podNamespace });
  const findings = createDiagnosticLog({ log });
  const isOwnPort = (ip: string, port: number): boolean =>
    createOwnPortCheck(options.ownPorts.current() ?? noOwnPorts, ownPortsOf(settings))(ip, port);
  const { maxScopeBytes } = defaultTranslateSettings;
  const reportSizes = createSizeReport({ metrics, watchHealth, maxScopeBytes });
  const keySets = createKeySetKeeper({
    fetch: (url, ending) =>
      fetchJson(url, { allowCidrs: settings.jwksAllowCidrs, isRefused: isOwnPort, signal: ending }),
    onChange: () => coalescer.markDirty(),
    ...countKeySets(metrics),
    clock: monotonicClock,
    log,
  });
  const coalescer = createCoalescer({
    build: createTableBuilder({
      source,
      keySets,
      settings: clusterTranslateSettings(settings, new Set(installed.keys())),
      ownPorts: () => options.ownPorts.current(),
      ingressNginxLeases: ingressNginx.renewed,
      publish: options.publish,
      admit: options.admit,
      addResources: ticketKeys.resources,
      onBuild(build) {
        options.onBuild(build);
        const { leftOut = [] } = build;
        findings.report(joinLists(build.translation.diagnostics, leftOutFindings(leftOut)));
        watchHealth.onLimit("objects of a namespace", leftOut.length > 0);
        reportSizes(build.translation);
        leaderWork.onBuild(build);
        ticketKeys.check(build.world);
      },
      metrics,
      log,
    }),
    minIntervalMs: settings.reconcileMinIntervalMs,
    onBug: (error) => log.error({ err: error }, "build threw"),
  });

  let cancelCheck = (): void => {};
  const checkExpiry = (): void => {
    coalescer.markDirty();
    cancelCheck = monotonicClock.schedule(expiryCheckMs, checkExpiry);
  };
  cancelCheck = monotonicClock.schedule(expiryCheckMs, checkExpiry);

  const unsubscribe = [
    options.fleet.subscribe(() => leaderWork.onProxies()),
    options.ownPorts.subscribe(() => coalescer.markDirty()),
    ingressNginx.subscribe(() => coalescer.markDirty()),
  ];
  await Promise.all([source.done, provisioned?.done, nodes?.done, gatewayFields?.done, ingressNginx.done]);
  unsubscribe.forEach((end) => end());
  cancelCheck();
  keySets.stop();
  ticketKeys.stop();
  findings.stop();
  await coalescer.stop();
}
