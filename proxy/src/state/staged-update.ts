import type { ResourceKey } from "@svc-gateway/common/ir/keys.ts";
import { createDecoder, type Decoded, type Resource } from "@svc-gateway/common/ir/resource.ts";
import type { SnapshotUpdate } from "@svc-gateway/common/ir/snapshot.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import { changeVersionLines, versionOf, type VersionLines } from "@svc-gateway/common/ir/version-lines.ts";

/** An update that was checked but has not changed anything yet. */
export type StagedUpdate = {
  readonly version: string;
  readonly lines: VersionLines;
  /** What differs from the present snapshot: the new hash, or undefined for a resource that is gone. */
  readonly hashes: ReadonlyMap<ResourceKey, string | undefined>;
  /** The new and changed resources of known kinds. */
  readonly values: readonly Decoded[];
};

export type PresentSnapshot = {
  readonly hashes: ReadonlyMap<ResourceKey, string>;
  readonly lines: VersionLines;
};

/**
 * Works out what an update changes and checks it: the version that results must be the one announced, and each new or
 * changed resource must have the announced hash and fit its schema. Resources whose hash is known are not looked at
 * again. Resources of unknown kinds count for the version and are otherwise ignored (docs/adr/0003-snapshots-are-keyed-resources.md).
 */
export function stageUpdate(present: PresentSnapshot, update: SnapshotUpdate): Result<StagedUpdate> {
  const offered = new Map<ResourceKey, Resource>();
  for (const resource of update.resources) offered.set(resource.key, resource);
  const hashes = changedHashes(present.hashes, offered, update);
  const lines = changeVersionLines(present.lines, hashes);
  const version = versionOf(lines);
  if (version !== update.version) {
    return problem(`snapshot ${update.version}: the update gives version ${version}`);
  }
  const values: Decoded[] = [];
  const decode = createDecoder();
  for (const [key, hash] of hashes) {
    const resource = hash === undefined ? undefined : offered.get(key);
    if (resource === undefined) continue;
    const decoded = decode(resource);
    if (!decoded.ok) return decoded;
    if (decoded.value !== undefined) values.push(decoded.value);
  }
  return ok({ version, lines, hashes, values });
}

function changedHashes(
  present: ReadonlyMap<ResourceKey, string>,
  offered: ReadonlyMap<ResourceKey, Resource>,
  { full, removed }: SnapshotUpdate,
): ReadonlyMap<ResourceKey, string | undefined> {
  const hashes = new Map<ResourceKey, string | undefined>();
  for (const key of full ? present.keys() : removed) {
    if (present.has(key) && !offered.has(key)) hashes.set(key, undefined);
  }
  for (const [key, { hash }] of offered) if (present.get(key) !== hash) hashes.set(key, hash);
  return hashes;
}
