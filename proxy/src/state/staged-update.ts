import type { ResourceKey } from "@svc-gateway/common/ir/keys.ts";
import { createDecoder, type Decoded, type Resource } from "@svc-gateway/common/ir/resource.ts";
import type { SnapshotUpdate } from "@svc-gateway/common/ir/snapshot.ts";
import { ok, type Result } from "@svc-gateway/common/values/result.ts";

/** An update that was checked but has not changed anything yet. */
export type StagedUpdate = {
  /** What differs from the present snapshot: the new hash, or undefined for a resource that is gone. */
  readonly hashes: ReadonlyMap<ResourceKey, string | undefined>;
  /** The new and changed resources of known kinds. */
  readonly values: readonly Decoded[];
};

/**
 * Works out what an update changes and checks it: each new or changed resource must have the announced hash and fit its
 * schema. Resources whose hash is known are not looked at again, those of unknown kinds are ignored
 * (docs/adr/0003-snapshots-are-keyed-resources.md). That all of it is what the update's version stands for is checked once
 * for all workers (docs/adr/0013-workers.md, "Updates").
 */
export function stageUpdate(
  present: ReadonlyMap<ResourceKey, string>,
  update: SnapshotUpdate,
): Result<StagedUpdate> {
  const offered = new Map<ResourceKey, Resource>();
  for (const resource of update.resources) offered.set(resource.key, resource);
  const hashes = changedHashes(present, (hash) => hash, update);
  const values: Decoded[] = [];
  const decode = createDecoder();
  for (const [key, hash] of hashes) {
    const resource = hash === undefined ? undefined : offered.get(key);
    if (resource === undefined) continue;
    const decoded = decode(resource);
    if (!decoded.ok) return decoded;
    if (decoded.value !== undefined) values.push(decoded.value);
  }
  return ok({ hashes, values });
}

/** The hashes that an update changes; undefined: the resource is gone. Of two resources with one key the later counts. */
export function changedHashes<Present>(
  present: ReadonlyMap<ResourceKey, Present>,
  hashOf: (one: Present) => string,
  { full, resources, removed }: SnapshotUpdate,
): ReadonlyMap<ResourceKey, string | undefined> {
  const hashes = new Map<ResourceKey, string | undefined>();
  for (const key of full ? present.keys() : removed) if (present.has(key)) hashes.set(key, undefined);
  for (const { key, hash } of resources) {
    const before = present.get(key);
    if (before === undefined || hashOf(before) !== hash) hashes.set(key, hash);
    else hashes.delete(key);
  }
  return hashes;
}
