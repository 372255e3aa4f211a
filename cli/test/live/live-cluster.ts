/** A cluster in memory that is read through a kubeconfig, as a user's cluster is. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { apiVersionOf, definitionOf, kindNames, type KindName } from "@svc-gateway/operator/api/kinds.ts";
import {
  startFakeCluster,
  type FakeCluster,
} from "../../../operator/test/sources/kubernetes/fake-cluster.ts";

export type LiveTestCluster = FakeCluster & {
  /** The path of a kubeconfig for it. */
  readonly kubeconfig: string;
  /** Creates an object of a kind that the gateway reads, or of another collection. */
  add(object: TestObject, collection?: string): void;
  /** Refuses requests to these collections, as for a user without the right. */
  forbid(...plurals: readonly string[]): void;
};

type TestObject = {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly [field: string]: unknown;
  };
} & Readonly<Record<string, unknown>>;

type OtherResources = Readonly<Record<string, readonly string[]>>;

/** Every kind that the gateway reads, and those of the controllers themselves. */
function servedResources(others: OtherResources): OtherResources {
  const served: Record<string, readonly string[]> = {
    ...others,
    "apps/v1": ["deployments"],
    "coordination.k8s.io/v1": ["leases"],
  };
  for (const kind of kindNames) {
    const version = apiVersionOf(kind);
    served[version] = [...(served[version] ?? []), definitionOf(kind).plural];
  }
  return served;
}

const collectionOf = (kind: KindName): string => {
  const version = apiVersionOf(kind);
  return `${version.includes("/") ? "/apis" : "/api"}/${version}/${definitionOf(kind).plural}`;
};

/** `others` are resources that only a test has, by group and version. */
export async function startLiveCluster(others: OtherResources = {}): Promise<LiveTestCluster> {
  const cluster = await startFakeCluster({ resources: servedResources(others) });
  const folder = await mkdtemp(join(tmpdir(), "live-"));
  const kubeconfig = join(folder, "config");
  await writeFile(kubeconfig, cluster.config.exportConfig());
  const closeServer = cluster.close;
  return Object.assign(cluster, {
    kubeconfig,
    add(object: TestObject, collection?: string) {
      const kind = object.kind as KindName;
      const typed = collection === undefined ? { apiVersion: apiVersionOf(kind), ...object } : object;
      cluster.put(collection ?? collectionOf(kind), typed);
    },
    forbid(...plurals: readonly string[]) {
      cluster.intercept = (_request, url) =>
        plurals.includes(url.pathname.split("/").at(-1) ?? "")
          ? { status: 403, body: { reason: "Forbidden", message: "not permitted" } }
          : undefined;
    },
    async close() {
      await closeServer();
      await rm(folder, { recursive: true });
    },
  });
}

/** The Deployment of controllers, as the chart makes it. */
export const controllerDeployment = (
  namespace: string,
  args: readonly string[],
  env: readonly object[] = [],
) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: {
    name: "svc-controller",
    namespace,
    labels: { "app.kubernetes.io/name": "svc", "app.kubernetes.io/component": "controller" },
  },
  spec: {
    replicas: 2,
    template: {
      spec: {
        containers: [
          {
            name: "controller",
            image: "example.com/svc-gateway:1",
            args: ["serve", "controller", ...args],
            env: [
              { name: "POD_NAMESPACE", valueFrom: { fieldRef: { fieldPath: "metadata.namespace" } } },
              ...env,
            ],
          },
        ],
      },
    },
  },
  status: { readyReplicas: 2 },
});
