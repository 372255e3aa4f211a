/** The pods of the installation, and operations on them. */
import { namespace } from "../deploy/release.ts";
import { ask, askPod, call, find } from "./api.ts";
import { kubectl } from "./provider.ts";
import { poll } from "./poll.ts";

export type Pod = {
  readonly metadata: { readonly name: string; readonly uid: string; readonly deletionTimestamp?: string };
  readonly spec: { readonly nodeName?: string };
  readonly status: {
    readonly podIP?: string;
    readonly phase?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly containerStatuses?: readonly { readonly restartCount: number; readonly started?: boolean }[];
  };
};

export type Component = "controller" | "shared-proxy";
export type DeploymentRef = { readonly namespace: string; readonly name: string };

export const deploymentOf = (component: Component): DeploymentRef => ({
  namespace,
  name: component === "controller" ? "svc-controller" : "svc-shared-proxy",
});

const healthPort = 8081;
const adminPort = 8082;

/** Every pod of a component, including those that are terminating. */
export async function podsOf(component: Component): Promise<readonly Pod[]> {
  const selector = encodeURIComponent(`app.kubernetes.io/name=svc,app.kubernetes.io/component=${component}`);
  const { items } = await ask<{ items: readonly Pod[] }>(
    `/api/v1/namespaces/${namespace}/pods?labelSelector=${selector}`,
  );
  return items;
}

/** Every pod of a namespace. */
export const podsIn = async (of: string): Promise<readonly Pod[]> =>
  (await ask<{ items: readonly Pod[] }>(`/api/v1/namespaces/${of}/pods`)).items;

export const nameOf = ({ metadata }: Pod): string => metadata.name;

export const isTerminating = ({ metadata }: Pod): boolean => metadata.deletionTimestamp !== undefined;

export const isReady = ({ status }: Pod): boolean =>
  status.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True") === true;

/** Names of the pods of a component that accept traffic. */
export const readyPodsOf = async (component: Component): Promise<readonly string[]> =>
  (await podsOf(component)).filter((pod) => isReady(pod) && !isTerminating(pod)).map(nameOf);

/** The pod that currently holds the lease. */
export async function leaderName(): Promise<string | undefined> {
  const lease = await find<{ readonly spec?: { readonly holderIdentity?: string } }>(
    `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/svc-leader-lock`,
  );
  return lease?.spec?.holderIdentity || undefined;
}

/** The response of the admin port of a pod of the installation. */
export const askAdmin = (name: string, path: string): Promise<string> =>
  askPod({ namespace, name, port: adminPort }, path).then(({ text }) => text);

/** The status of `/readyz`. */
export const readiness = (name: string): Promise<number> =>
  askPod({ namespace, name, port: healthPort }, "/readyz").then(({ status }) => status);

export type DeleteOptions = { readonly gracePeriodSeconds?: number };

/** Requests the deletion of a pod without waiting for it. */
export async function deletePod(name: string, { gracePeriodSeconds }: DeleteOptions = {}): Promise<void> {
  const query = gracePeriodSeconds === undefined ? "" : `?gracePeriodSeconds=${gracePeriodSeconds}`;
  await ask(`/api/v1/namespaces/${namespace}/pods/${name}${query}`, { method: "DELETE" });
}

export const scale = ({ namespace: of, name }: DeploymentRef, replicas: number): Promise<unknown> =>
  ask(`/apis/apps/v1/namespaces/${of}/deployments/${name}/scale`, {
    method: "PATCH",
    body: { spec: { replicas } },
  });

/** Starts a rolling update that changes nothing. */
export const restart = (deployment: DeploymentRef): Promise<unknown> =>
  kubectl(["--namespace", deployment.namespace, "rollout", "restart", `deployment/${deployment.name}`]);

type Deployment = {
  readonly metadata: { readonly generation: number };
  readonly spec: { readonly replicas: number };
  readonly status: {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly updatedReplicas?: number;
    readonly readyReplicas?: number;
  };
};

/** Waits until a Deployment runs only pods of its current spec. */
export const waitForRollout = (deployment: DeploymentRef, limitMs = 120_000): Promise<unknown> =>
  poll(
    `${deployment.namespace}/${deployment.name} to be rolled out`,
    async () => {
      const { metadata, spec, status } = await ask<Deployment>(
        `/apis/apps/v1/namespaces/${deployment.namespace}/deployments/${deployment.name}`,
      );
      const counts = [status.replicas, status.updatedReplicas, status.readyReplicas];
      return (
        status.observedGeneration === metadata.generation &&
        counts.every((count) => (count ?? 0) === spec.replicas)
      );
    },
    limitMs,
  );

/**
 * Waits for a complete installation: two controllers, one of them the leader, two ready proxies, and no pod that is
 * terminating.
 */
export async function waitUntilWhole(limitMs = 120_000): Promise<void> {
  await poll("an API server that is ready", async () => (await call("/readyz")).status === 200, limitMs);
  for (const component of ["controller", "shared-proxy"] as const) {
    await waitForRollout(deploymentOf(component), limitMs);
    await poll(
      `no ${component} to be going`,
      async () => !(await podsOf(component)).some(isTerminating),
      limitMs,
    );
  }
  await poll(
    "a leader that runs",
    async () => {
      const leader = await leaderName();
      return leader !== undefined && (await readyPodsOf("controller")).includes(leader);
    },
    limitMs,
  );
}
