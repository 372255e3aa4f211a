import { silentLogger } from "@svc-gateway/common/telemetry/logger.ts";
import type { KindName } from "../../../src/api/kinds.ts";
import { createApiClient } from "../../../src/sources/kubernetes/api-client.ts";
import {
  startClusterSource,
  type ClusterSourceOptions,
} from "../../../src/sources/kubernetes/cluster-source.ts";
import type { InstalledKind } from "../../../src/sources/kubernetes/installed-kinds.ts";
import type { FakeCluster } from "./fake-cluster.ts";

export const ingresses = "/apis/networking.k8s.io/v1/ingresses";
export const secrets = "/api/v1/secrets";

export const ingressKind: InstalledKind = {
  kind: "Ingress",
  apiVersion: "networking.k8s.io/v1",
  path: ingresses,
};
export const secretKind: InstalledKind = { kind: "Secret", apiVersion: "v1", path: secrets };

/** Follows these kinds of a fake cluster, and records the callbacks of the source. */
export async function follow(
  cluster: FakeCluster,
  kinds: readonly InstalledKind[],
  options: Partial<
    Pick<ClusterSourceOptions, "namedSecrets" | "maxNamespaceBytes" | "namespaces" | "readsPlainSecrets">
  > = {},
) {
  const client = await createApiClient(cluster.config);
  const abort = new AbortController();
  const seen = { dirty: 0, observed: [] as string[], events: [] as string[], watches: [] as string[] };
  const source = startClusterSource({
    client,
    kinds,
    ownSecrets: [{ namespace: "svc-system", name: "own" }],
    namedSecrets: ["both", "tls", "users"].map((name) => ({ namespace: "ns", name })),
    maxNamespaceBytes: 1e9,
    ...options,
    log: silentLogger,
    signal: abort.signal,
    onDirty: () => void seen.dirty++,
    onObserved: (kind, name) => seen.observed.push(`${kind} ${name}`),
    onWatch: (kind, _watch, state) => seen.watches.push(`${kind} ${state}`),
    onEvent: (kind, event) => seen.events.push(`${kind} ${event}`),
    onError: (kind) => seen.events.push(`${kind} error`),
  });
  return {
    source,
    seen,
    names: (kind: KindName) => source.world()[kind].map(({ metadata }) => metadata.name),
    async stop() {
      abort.abort();
      await source.done;
      await client.close();
    },
  };
}

export const tlsSecret = (
  name: string,
  labels: Readonly<Record<string, string>> = {},
  type = "kubernetes.io/tls",
): object => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name, namespace: "ns", labels },
  type,
  data: { "tls.crt": "QQ==", "tls.key": "QQ==", auth: "QQ==" },
});
