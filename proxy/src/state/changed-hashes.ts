import type { ResourceKey } from "@svc-gateway/common/ir/keys.ts";
import type { Resource } from "@svc-gateway/common/ir/resource.ts";
import type { SnapshotUpdate } from "@svc-gateway/common/ir/snapshot.ts";
import { forEachInSteps, type Steps } from "../timing/steps.ts";

/** The properties of a resource that determine what an update changes. */
export type Offered = Pick<Resource, "key" | "hash">;

/**
 * Returns the hashes that an update changes, with undefined for removed resources. Of two resources with the same key,
 * the later one counts.
 */
export function* changedHashes<Present>(
  present: ReadonlyMap<ResourceKey, Present>,
  hashOf: (one: Present) => string,
  {
    full,
    resources,
    removed,
  }: Pick<SnapshotUpdate, "full" | "removed"> & { readonly resources: Iterable<Offered> },
): Steps<ReadonlyMap<ResourceKey, string | undefined>> {
  const hashes = new Map<ResourceKey, string | undefined>();
  yield* forEachInSteps(full ? present.keys() : removed, (key) => {
    if (present.has(key)) hashes.set(key, undefined);
  });
  yield* forEachInSteps(resources, ({ key, hash }) => {
    const before = present.get(key);
    if (before === undefined || hashOf(before) !== hash) hashes.set(key, hash);
    else hashes.delete(key);
  });
  return hashes;
}
