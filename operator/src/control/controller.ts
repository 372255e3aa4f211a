/** `serve controller`: assembles the parts of the control plane. See docs/controller.md. */
import type { ResourceEvent } from "@dot-i/k8s-operator";
import type { KubeConfig } from "@kubernetes/client-node";
import type { AdminAccess, AdminRoute } from "@svc-gateway/common/admin/admin-app.ts";
import type { HealthRegistry } from "@svc-gateway/common/admin/health.ts";
import { createOwnPeerCheck } from "@svc-gateway/common/ir/own-port-check.ts";
import { noOwnPorts } from "@svc-gateway/common/ir/own-ports.ts";
import type { ControllerSettings } from "@svc-gateway/common/settings/settings.ts";
import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import type {
  controllerMetrics,
  DiscoveryServerMetrics,
} from "@svc-gateway/common/telemetry/metric-declarations.ts";
import type { MetricSet } from "@svc-gateway/common/telemetry/metric-set.ts";
import { aborted } from "@svc-gateway/common/time/aborted.ts";
import { monotonicClock, type Clock } from "@svc-gateway/common/time/clock.ts";
import { textOf } from "@svc-gateway/common/values/errors.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import { fleetRoutes } from "../admin/fleet-pages.ts";
import { createGatewayPods } from "../admin/gateway-pods.ts";
import { createProxyPods, type ProxyPod } from "../admin/proxy-pods.ts";
import { createTokenAccess } from "../admin/token-access.ts";
import type { Build } from "../build/table-builder.ts";
import { createDiscoveryServer, type DiscoveryServer } from "../discovery/discovery-server.ts";
import type { FleetNode } from "../discovery/fleet.ts";
import type { DedicatedGateway } from "../discovery/principals.ts";
import { createKubernetesCaStore } from "../keys/kubernetes-ca-store.ts";
import { createTokenReview } from "../keys/token-review.ts";
import { createTokenVerification } from "../keys/token-verification.ts";
import { runLeaderElection } from "../lifecycle/leader-election.ts";
import { createLeadership, type LeadershipControl } from "../lifecycle/leadership.ts";
import { createOperatorShell, type WatchedResource } from "../lifecycle/operator-shell.ts";
import { createOwnPod } from "../lifecycle/own-pod.ts";
import { controllerChecks, createWatchHealth, type WatchHealth } from "../lifecycle/watch-health.ts";
import { createApiClient, loadKubeConfig, type ApiClient } from "../sources/kubernetes/api-client.ts";
import { waitForInstalledKinds } from "../sources/kubernetes/installed-kinds.ts";
import { createOutageLog } from "../sources/kubernetes/outage-log.ts";
import { planWatches, type WatchPlan } from "../sources/kubernetes/watch-plan.ts";
import { baseTemplateOf } from "../translate/gateway/dedicated/overlay.ts";
import { componentLabel, dedicatedComponent } from "../translate/gateway/names.ts";
import type { EventSource } from "../write/event-object.ts";
import { createEventRecorder } from "../write/event-recorder.ts";
import { limitsWithoutClusterScope } from "./cluster-scope.ts";
import { runClusterPipeline } from "./cluster-pipeline.ts";
import { dedicatedSettingsOf, ownPortsOf, servedNamespacesOf } from "./translate-settings.ts";

export type ControllerOptions = {
  readonly settings: ControllerSettings;
  readonly logger: Logger;
  readonly metrics: {
    readonly controller: MetricSet<typeof controllerMetrics>;
    readonly discovery: DiscoveryServerMetrics;
  };
  /** The registry in which the subsystem `controller` is registered. */
  readonly health: HealthRegistry;
  /** Ends the controller in order: the lease is released, streams end, and nothing more is written. */
  readonly signal: AbortSignal;
  /** The API server; by default that of `KUBECONFIG`, of the home folder, or of the service account of the pod. */
  readonly kubeConfig?: KubeConfig;
  /** The clock of the lease; the monotonic clock by default. */
  readonly leaseClock?: Clock;
};

export type RunningController = {
  /** The pages of the admin port in addition to health and metrics. */
  readonly adminRoutes: readonly AdminRoute[];
  /** Updates the metrics that change with time alone; called before each export. */
  refreshMetrics(): void;
  /** Decides which callers may read the admin port; undefined if all may. */
  readonly adminAccess: AdminAccess | undefined;
  /**
   * Whether an address belongs to a pod of the gateway. A request from such an address was sent through the gateway.
   */
  readonly isOwnPeer: (ip: string) => boolean;
  /** The present state, as the console shows it. */
  readonly inspect: ControllerView;
  readonly streamPort: number;
  readonly bootstrapPort: number;
  /** Resolves when everything has ended, after the signal or because a part failed, which is logged. */
  readonly done: Promise<void>;
};

export type ControllerView = {
  /** The last build, with its time in milliseconds since the epoch; undefined before the first one. */
  build(): (Build & { readonly builtMs: number }) | undefined;
  /** The proxy pods of the cluster, with the reports of those that are connected to this replica. */
  proxies(): readonly { readonly pod: ProxyPod; readonly node: FleetNode | undefined }[];
  isLeading(): boolean;
};

const leaseName = "svc-leader-lock";
/** The `reportingController` of Events. */
const eventController = "svc-labs.dev/gateway-controller";

/**
 * Starts a controller. It serves the discovery channel immediately and retries until it has a first routing table: an
 * API server that cannot be reached is a pending health check and does not end the process. Fails if a port cannot be
 * bound, the pod template is invalid, or the configuration of the API server is missing.
 */
export async function startController(options: ControllerOptions): Promise<Result<RunningController>> {
  const { settings, logger: log, metrics, health, signal, leaseClock: clock = monotonicClock } = options;
  const template = baseTemplateOf(settings.dedicatedPodTemplate);
  if (!template.ok) return problem(`--dedicated-pod-template: ${template.error}`);
  const connected = await connect(options.kubeConfig);
  if (!connected.ok) return connected;
  const { config, client } = connected.value;
  const leadership = createLeadership({ metrics: metrics.controller, log, clock });
  const watchHealth = createWatchHealth({ health: health.register("controller", controllerChecks), log });
  const events: EventSource = { controller: eventController, instance: settings.podName };
  let build: (Build & { readonly builtMs: number }) | undefined;
  let dedicated: Iterable<DedicatedGateway> = [];
  const discovery = createDiscovery(options, {
    client,
    leadership,
    events,
    dedicatedGateways: () => dedicated,
  });
  const pods = createProxyPods();
  const gatewayPods = createGatewayPods({
    installNamespace: settings.podNamespace,
    ports: ownPortsOf(settings),
  });

  /** Reports the table once it can also be fetched; until then the replica is not ready. */
  const reportTable = (): void => {
    if (build !== undefined && discovery.isReady()) watchHealth.onTable();
  };
  discovery.subscribe(reportTable);

  const listening = await discovery.listen();
  if (!listening.ok) {
    await discovery.close();
    await client.close();
    return listening;
  }

  const pipeline = async (stop: AbortSignal): Promise<void> => {
    const installed = await waitForInstalledKinds({ client, signal: stop, log });
    if (installed === undefined) return;
    const plan = planWatches(installed, settings);
    announcePlan(plan, { settings, log, watchHealth });
    await runClusterPipeline({
      client,
      kinds: plan.kinds,
      settings,
      leadership,
      events,
      watchHealth,
      fleet: discovery.fleet,
      ownPorts: gatewayPods,
      admit: (gateways) => (dedicated = gateways),
      publish: (snapshots) => discovery.cache.publish(snapshots),
      onBuild(next) {
        build = { ...next, builtMs: Date.now() };
        reportTable();
      },
      metrics: metrics.controller,
      log,
      signal: stop,
    });
  };

  let running: Promise<unknown> = Promise.resolve();
  const operator = createOperatorShell({
    config,
    client,
    log,
    init(shell) {
      const pod = { group: "", version: "v1", plural: "pods" };
      const installed = { ...pod, namespace: settings.podNamespace, onListed: gatewayPods.listing() };
      const dedicatedPods = dedicatedPodsOf(settings).map((where) => ({
        ...pod,
        ...where,
        onListed: gatewayPods.listing(),
      }));
      const onPod = async (event: ResourceEvent): Promise<void> => {
        await Promise.all([pods.onEvent(event), gatewayPods.onEvent(event)]);
      };
      running = Promise.all([
        pipeline(shell.signal),
        shell.watch(installed, onPod),
        ...dedicatedPods.map((where) => shell.watch(where, onPod)),
        runLeaderElection({
          client,
          namespace: settings.podNamespace,
          leaseName,
          identity: settings.podName,
          ttlMs: settings.controllerLeaseTtlMs,
          renewIntervalMs: settings.controllerLeaseRenewIntervalMs,
          signal: shell.signal,
          leadership,
          outage: createOutageLog(log, "lease"),
          clock,
        }),
      ]);
      return Promise.resolve();
    },
  });
  await operator.start();

  const end = async (): Promise<void> => {
    // A part that ends on its own has a bug: the others end in order.
    await Promise.race([aborted(signal), running]).catch((error: unknown) =>
      log.error({ err: error }, "controller failed"),
    );
    health.beginShutdown();
    operator.stop();
    await Promise.allSettled([running, discovery.close()]);
    await client.close();
    log.info({}, "controller stopped");
  };
  return ok({
    adminRoutes: fleetRoutes({
      pods: pods.list,
      fleet: discovery.fleet,
      translation: () => build?.translation,
    }),
    adminAccess: settings.adminAuth
      ? createTokenAccess({ client, log: log.child("svc_admin"), signal })
      : undefined,
    refreshMetrics: discovery.refreshMetrics,
    isOwnPeer: (ip) => createOwnPeerCheck(gatewayPods.current() ?? noOwnPorts)(ip),
    inspect: {
      build: () => build,
      proxies: () => pods.list().map((pod) => ({ pod, node: discovery.fleet.node(pod.name, pod.namespace) })),
      isLeading: () => leadership.isLeading(),
    },
    ...listening.value,
    done: end(),
  });
}

/** The places of the pods of dedicated Gateways; empty if there can be none. */
function dedicatedPodsOf(settings: ControllerSettings): readonly Partial<WatchedResource>[] {
  if (dedicatedSettingsOf(settings) === undefined) return [];
  const labelSelector = `${componentLabel}=${dedicatedComponent}`;
  return (servedNamespacesOf(settings) ?? [undefined]).map((namespace) =>
    namespace === undefined ? { labelSelector } : { labelSelector, namespace },
  );
}

function createDiscovery(
  { settings, logger, metrics, signal }: ControllerOptions,
  {
    client,
    leadership,
    events,
    dedicatedGateways,
  }: {
    client: ApiClient;
    leadership: LeadershipControl;
    events: EventSource;
    dedicatedGateways: () => Iterable<DedicatedGateway>;
  },
): DiscoveryServer {
  const log = logger.child("svc_discovery");
  // Each replica reports the rejections that it received, because no other replica knows of them.
  const recorder = createEventRecorder({ client, source: events, log, signal });
  const pod = createOwnPod({ client, namespace: settings.podNamespace, name: settings.podName, signal });
  return createDiscoveryServer({
    streamPort: settings.discoveryPort,
    bootstrapPort: settings.discoveryBootstrapPort,
    installNamespace: settings.podNamespace,
    service: settings.discoveryService,
    trustDomain: settings.discoveryTrustDomain,
    caMode: settings.discoveryCaMode,
    svidLifetimeMs: settings.discoverySvidTtlMs,
    sharedProxyServiceAccount: settings.sharedProxyServiceAccount,
    dedicatedGateways,
    caStore: createKubernetesCaStore({
      client,
      namespace: settings.podNamespace,
      secret: settings.discoveryCaSecret,
      log,
    }),
    reviewToken: settings.disableClusterScope ? createTokenVerification(client) : createTokenReview(client),
    leadership,
    metrics: metrics.discovery,
    log,
    onBootstrapRejected({ reason, principal }) {
      void pod().then((regarding) =>
        recorder.record({
          regarding,
          type: "Warning",
          reason: "BootstrapRejected",
          message: `${reason}: ${principal}`,
        }),
      );
    },
  });
}

function announcePlan(
  { kinds, gatewayApi, missing }: WatchPlan,
  { settings, log, watchHealth }: { settings: ControllerSettings; log: Logger; watchHealth: WatchHealth },
): void {
  log.info({ kinds: kinds.map(({ kind }) => kind) }, "watching");
  if (settings.disableClusterScope)
    log.warn(
      { limits: limitsWithoutClusterScope },
      "objects without a namespace are neither read nor written (--disable-cluster-scope)",
    );
  if (settings.disableIngress) watchHealth.exempt("Ingress", "Ready");
  if (gatewayApi === "served") return;
  if (gatewayApi === "missing") log.warn({ missing }, "Gateway API is not installed: serving Ingresses only");
  for (const kind of ["Gateway", "HTTPRoute"] as const) {
    watchHealth.exempt(kind, gatewayApi === "missing" ? "Degraded" : "Ready");
  }
}

/** The server that client-node assumes when it finds no configuration; it is not an API server. */
const assumedServer = "http://localhost:8080";

/** Creates the client. client-node throws on a configuration that it cannot use, such as a malformed KUBECONFIG. */
async function connect(
  given: KubeConfig | undefined,
): Promise<Result<{ readonly config: KubeConfig; readonly client: ApiClient }>> {
  try {
    const config = given ?? loadKubeConfig();
    if (config.getCurrentCluster()?.server === assumedServer) {
      return problem("no API server: neither in a cluster, nor a usable KUBECONFIG");
    }
    return ok({ config, client: await createApiClient(config) });
  } catch (error) {
    return problem(`no usable API server configuration: ${textOf(error)}`);
  }
}
