import type { KubeObject } from "../../../../src/api/object.ts";
import type {
  Provisioned,
  ProvisionedObjects,
} from "../../../../src/sources/kubernetes/provisioned-objects.ts";
import { gatewayOf } from "../../../../src/sources/kubernetes/provisioned-objects.ts";
import { createFakeClient, type FakeClient } from "../../../support/fake-client.ts";

type Stored = KubeObject & { readonly metadata: { readonly uid?: string } };

export type FakeCluster = {
  readonly client: FakeClient;
  readonly provisioned: ProvisionedObjects;
  /** The objects stored in the API server, by path. */
  readonly objects: Map<string, Stored>;
  /** `METHOD path` of every write, in order. */
  readonly writes: () => readonly string[];
  /** Answers writes to this path with this status from now on. */
  refuse(path: string, status: number): void;
};

/** An API server that stores applied objects, and watches that are always up to date. Lists ignore their selectors. */
export function createFakeCluster(present: Readonly<Record<string, object>> = {}): FakeCluster {
  const objects = new Map(Object.entries(present) as [string, Stored][]);
  const refused = new Map<string, number>();
  const client = createFakeClient(({ path, method = "GET", body, query }) => {
    const found = objects.get(path);
    if (method === "GET" && query?.["labelSelector"] !== undefined) {
      return { items: [...objects].flatMap(([of, object]) => (of.startsWith(`${path}/`) ? [object] : [])) };
    }
    if (method === "GET") return found ?? 404;
    const status = refused.get(path);
    if (status !== undefined) return status;
    if (method === "DELETE") return objects.delete(path) ? {} : 404;
    if (query?.["dryRun"] !== undefined) return body as object;
    const { metadata, ...rest } = body as Stored;
    const stored = {
      ...found,
      ...rest,
      metadata: { uid: `uid-of ${path}`, ...found?.metadata, ...metadata },
    } as Stored;
    objects.set(path, stored);
    return stored;
  });
  const all = (): readonly Provisioned[] =>
    [...objects.values()].filter(({ kind }) => kind !== "Gateway" && kind !== "ConfigMap");
  return {
    client,
    objects,
    writes: () =>
      client.calls
        .filter(({ method = "GET" }) => method !== "GET")
        .map(
          ({ method, path, query }) => `${method} ${path}${query?.["dryRun"] === undefined ? "" : "?dryRun"}`,
        ),
    refuse: (path, status) => refused.set(path, status),
    provisioned: {
      isListed: () => true,
      get: ({ kind, namespace, name }) =>
        all().find(
          (object) =>
            object.kind === kind && object.metadata.namespace === namespace && object.metadata.name === name,
        ),
      of: (gateway) => all().filter((object) => gatewayOf(object) === gateway),
      gateways: () => new Set(all().flatMap((object) => gatewayOf(object) ?? [])),
      subscribe: () => () => undefined,
      done: Promise.resolve(),
    },
  };
}
