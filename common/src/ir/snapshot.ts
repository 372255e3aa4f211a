import type { ResourceKey } from "./keys.ts";
import type { Resource } from "./resource.ts";
import { compareKeys, sortEntries, type SortedEntries } from "./sorted-entries.ts";
import { versionLine, versionOf } from "./version-lines.ts";

/** All resources of one scope. */
export type Snapshot = {
  /** SHA-256 (hex) of all `key\nhash\n` in key order: equal worlds have equal versions. */
  readonly version: string;
  readonly resources: SortedEntries<Resource>;
};

/** What a receiver must change to get from one snapshot to another. A full update replaces everything. */
export type SnapshotUpdate = {
  readonly version: string;
  readonly full: boolean;
  readonly resources: readonly Resource[];
  readonly removed: readonly ResourceKey[];
};

/** Of two resources with one key the later counts. */
export function createSnapshot(resources: Iterable<Resource>): Snapshot {
  const byKey = new Map<ResourceKey, Resource>();
  for (const resource of resources) byKey.set(resource.key, resource);
  const sorted = sortEntries(byKey);
  const lines = sorted.values.map(({ key, hash }) => versionLine(key, hash));
  return { version: versionOf({ keys: sorted.keys, values: lines }), resources: sorted };
}

export const fullUpdate = ({ version, resources }: Snapshot): SnapshotUpdate => ({
  version,
  full: true,
  resources: resources.values,
  removed: [],
});

/** The smallest update from `previous` to `next`. */
export function diffSnapshots(previous: Snapshot, next: Snapshot): SnapshotUpdate {
  const resources: Resource[] = [];
  const removed: ResourceKey[] = [];
  const [before, after] = [previous.resources.values, next.resources.values];
  let b = 0;
  let a = 0;
  while (b < before.length || a < after.length) {
    const old = before[b];
    const fresh = after[a];
    const order = old === fresh ? 0 : compareOptional(old, fresh);
    if (order >= 0 && fresh !== undefined && (order > 0 || old?.hash !== fresh.hash)) resources.push(fresh);
    if (order < 0 && old !== undefined) removed.push(old.key);
    if (order <= 0) b++;
    if (order >= 0) a++;
  }
  return { version: next.version, full: false, resources, removed };
}

/** In key order; what is not there comes after everything. */
function compareOptional(a: Resource | undefined, b: Resource | undefined): number {
  if (a === undefined) return 1;
  return b === undefined ? -1 : compareKeys(a.key, b.key);
}
