import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import type { ObjectOf } from "../../../api/kinds.ts";
import type { Build } from "../../../build/table-builder.ts";
import { type ApiClient, describeApiError } from "../../../sources/kubernetes/api-client.ts";
import { trustBundleKey, trustConfigMap } from "../../../translate/gateway/dedicated/pod-parts.ts";
import { componentLabel } from "../../../translate/gateway/names.ts";
import { haveSameItems } from "../../../translate/incremental/memo.ts";
import { createLookup, type World } from "../../../world.ts";
import { fieldManager } from "../../../write/status-writer.ts";
import type { Reconciler } from "../../reconciler.ts";

const trustComponent = "discovery-trust";
const instanceLabel = "app.kubernetes.io/instance";

/** The copies of the trust bundle in the namespaces of Gateways with dedicated proxies. */
export type TrustCopies = {
  /** Creates or updates the copy in a namespace. */
  ensure(namespace: string, world: World, signal: AbortSignal): Promise<Result<string>>;
  readonly reconciler: Reconciler;
};

/**
 * Copies the ConfigMap with the authorities of the discovery channel into each namespace that needs it, and deletes the
 * copy when the last such Gateway is removed. ConfigMaps of that name with another owner are not changed.
 */
export function createTrustCopies(client: ApiClient, installNamespace: string): TrustCopies {
  const find = (namespace: string, world: World): ObjectOf<"ConfigMap"> | undefined =>
    createLookup(world)("ConfigMap", namespace, trustConfigMap);
  const isOurs = ({ metadata: { labels } }: ObjectOf<"ConfigMap">): boolean =>
    labels?.[componentLabel] === trustComponent && labels[instanceLabel] === installNamespace;
  const bundleOf = (map: ObjectOf<"ConfigMap"> | undefined): string | undefined =>
    map?.data?.[trustBundleKey];
  const namespacesOf = ({ translation }: Build): ReadonlySet<string> =>
    new Set(translation.dedicated.map(({ gateway }) => gateway.metadata.namespace));

  const ensure: TrustCopies["ensure"] = async (namespace, world, signal) => {
    if (namespace === installNamespace) return ok("original");
    const bundle = bundleOf(find(installNamespace, world));
    if (bundle === undefined)
      return problem(`ConfigMap ${installNamespace}/${trustConfigMap} does not exist yet`);
    const present = find(namespace, world);
    if (present !== undefined && !isOurs(present)) {
      return problem(
        `ConfigMap ${namespace}/${trustConfigMap} exists but was not created by this controller; it is left unchanged, and without it the proxies of Gateways in this namespace cannot start`,
      );
    }
    if (bundleOf(present) === bundle) return ok("unchanged");
    const applied = await client.call(pathOf(namespace), {
      method: "PATCH",
      patch: "apply",
      query: { fieldManager, force: true },
      body: {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: {
          name: trustConfigMap,
          namespace,
          labels: {
            "app.kubernetes.io/name": "svc",
            [instanceLabel]: installNamespace,
            "app.kubernetes.io/managed-by": "svc",
            [componentLabel]: trustComponent,
          },
        },
        data: { [trustBundleKey]: bundle },
      },
      signal,
    });
    return applied.ok ? ok("copied") : problem(describeApiError(applied.error));
  };

  const remove = async (namespace: string, world: World, signal: AbortSignal): Promise<Result<string>> => {
    const present = find(namespace, world);
    if (present === undefined || !isOurs(present)) return ok("gone");
    const deleted = await client.call(pathOf(namespace), {
      method: "DELETE",
      body: { preconditions: { uid: present.metadata.uid } },
      signal,
    });
    return deleted.ok || deleted.error.status === 404
      ? ok("deleted")
      : problem(describeApiError(deleted.error));
  };

  return {
    ensure,
    reconciler: {
      controller: "configmap",
      *dirty(previous, next) {
        const isSame =
          previous?.world.ConfigMap === next.world.ConfigMap &&
          haveSameItems(previous.translation.dedicated, next.translation.dedicated);
        if (isSame) return;
        const wanted = namespacesOf(next);
        const bundle = bundleOf(find(installNamespace, next.world));
        for (const namespace of wanted) {
          if (namespace !== installNamespace && bundleOf(find(namespace, next.world)) !== bundle)
            yield namespace;
        }
        for (const map of next.world.ConfigMap) {
          if (isOurs(map) && !wanted.has(map.metadata.namespace)) yield map.metadata.namespace;
        }
      },
      reconcile: (namespace, { build, signal }) =>
        namespacesOf(build).has(namespace)
          ? ensure(namespace, build.world, signal)
          : remove(namespace, build.world, signal),
    },
  };
}

const pathOf = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps/${trustConfigMap}`;
