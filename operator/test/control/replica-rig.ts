import { createHealthRegistry } from "@svc-gateway/common/admin/health.ts";
import { readControllerSettings } from "@svc-gateway/common/settings/settings.ts";
import { silentLogger, type Logger } from "@svc-gateway/common/telemetry/logger.ts";
import {
  controllerMetrics,
  discoveryServerMetrics,
} from "@svc-gateway/common/telemetry/metric-declarations.ts";
import { createMetricSet } from "@svc-gateway/common/telemetry/metric-set.ts";
import { useRunningClock } from "../../../common/test/time/running-clock.ts";
import { until } from "../../../common/test/until.ts";
import { definitionOf, kindNames } from "../../src/api/kinds.ts";
import { startController, type ControllerOptions } from "../../src/control/controller.ts";
import {
  startFakeCluster,
  type FakeCluster,
  type FakeClusterOptions,
  type Stored,
} from "../sources/kubernetes/fake-cluster.ts";

export const ingresses = "/apis/networking.k8s.io/v1/ingresses";
export const ingressClasses = "/apis/networking.k8s.io/v1/ingressclasses";
export const services = "/api/v1/services";
export const pods = "/api/v1/pods";
export const secrets = "/api/v1/secrets";
export const events = "/apis/events.k8s.io/v1/events";
export const leases = "/apis/coordination.k8s.io/v1/leases";
export const lockName = "svc-system/svc-leader-lock";

/** The resources that the API server serves, except those of some groups. */
export function resourcesWithout(...groups: readonly string[]): Readonly<Record<string, readonly string[]>> {
  const resources: Record<string, string[]> = {};
  for (const kind of kindNames) {
    const { group, versions, plural } = definitionOf(kind);
    if (groups.includes(group)) continue;
    (resources[group === "" ? (versions[0] ?? "") : `${group}/${versions[0]}`] ??= []).push(plural);
  }
  return resources;
}

export const proxyService = (ip: string): object => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "svc-shared-proxy", namespace: "svc-system" },
  spec: { type: "LoadBalancer", ports: [{ port: 80 }] },
  status: { loadBalancer: { ingress: [{ ip }] } },
});

export const addressOf = (cluster: FakeCluster, name: string): unknown =>
  (cluster.get(ingresses, `ns/${name}`)?.status as { loadBalancer?: { ingress?: unknown } } | undefined)
    ?.loadBalancer?.ingress;

export const hasAddress = (cluster: FakeCluster, name: string, ip: string): boolean =>
  JSON.stringify(addressOf(cluster, name)) === JSON.stringify([{ ip }]);

export const holderOf = (cluster: FakeCluster): string | undefined =>
  (cluster.get(leases, lockName) as (Stored & { spec: { holderIdentity: string } }) | undefined)?.spec
    .holderIdentity;

/** The certificate that proxies trust, as soon as the controller publishes it. */
export async function publishedTrust(cluster: FakeCluster): Promise<string> {
  const read = (): string | undefined =>
    (
      cluster.get("/api/v1/configmaps", "svc-system/svc-discovery-trust") as
        { readonly data?: Readonly<Record<string, string>> } | undefined
    )?.data?.["ca.crt"];
  await until(() => read() !== undefined, "the trust ConfigMap");
  return read() ?? "";
}

export const eventsOf = (cluster: FakeCluster): string[] =>
  (cluster.list(events) as readonly (Stored & { reason: string; note: string })[]).map(
    ({ reason, note }) => `${reason}: ${note}`,
  );

/** The status of a TokenReview for a token of the shared proxies. */
export const sharedProxyReview = {
  authenticated: true,
  audiences: ["svc-discovery"],
  user: { username: "system:serviceaccount:svc-system:svc-shared-proxy" },
};
/** Starts replicas of the controller on a fake cluster, which all end after each test. */
export function createReplicaRig() {
  let cluster: FakeCluster;
  const stops: (() => Promise<void>)[] = [];

  const useCluster = async (options: Partial<FakeClusterOptions> = {}): Promise<FakeCluster> =>
    (cluster = await startFakeCluster({ resources: resourcesWithout(), ...options }));

  /** A replica; the system chooses its ports. Its lease lasts longer than any test, so that nothing runs out. */
  async function startReplica(
    podName: string,
    flags: Readonly<Record<string, string | number>> = {},
    logger: Logger = silentLogger,
  ) {
    const given = {
      "pod-name": podName,
      "pod-namespace": "svc-system",
      "discovery-port": 0,
      "discovery-bootstrap-port": 0,
      "controller-lease-ttl": "10m",
      "controller-lease-renew-interval": "1s",
      ...flags,
    };
    const argv = Object.entries(given).map(([name, value]) => `--${name}=${value}`);
    const read = readControllerSettings({ argv, env: {} });
    if (!read.ok) throw new Error(read.error.message);
    const abort = new AbortController();
    const health = createHealthRegistry("1");
    const metrics = {
      controller: createMetricSet(controllerMetrics),
      discovery: createMetricSet(discoveryServerMetrics),
    };
    const options: ControllerOptions = {
      settings: read.value.settings,
      logger,
      metrics,
      health,
      signal: abort.signal,
      kubeConfig: cluster.config,
      leaseClock,
    };
    const started = await startController(options);
    if (!started.ok) throw new Error(started.error.message);
    const stop = async (): Promise<void> => {
      abort.abort();
      await started.value.done;
    };
    stops.push(stop);
    return {
      stop,
      streamPort: started.value.streamPort,
      bootstrapPort: started.value.bootstrapPort,
      checks: () => health.document().subsystems["controller"]?.checks,
      isReady: () => health.readiness().isReady,
      isLeading: () => metrics.controller.leader.with({}).value === 1,
      metrics: metrics.controller,
      isOwnPeer: started.value.isOwnPeer,
      async ask(path: string, pod: string = "") {
        const route = started.value.adminRoutes.find((one) => one.path === path);
        const answer = await route?.answer({ params: { pod }, query: new URLSearchParams() });
        return JSON.parse(answer?.body ?? "null") as Record<string, unknown>;
      },
    };
  }

  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
    await cluster.close();
  });
  const leaseClock = useRunningClock();

  return { useCluster, startReplica };
}
