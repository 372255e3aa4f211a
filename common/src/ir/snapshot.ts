import type { ResourceKey } from "./keys.ts";
import type { Resource } from "./resource.ts";
import { listChanges } from "../collections/list-changes.ts";
import { compareKeys, findEntry, type SortedEntries } from "./sorted-entries.ts";
import { versionLinesOf, versionOf, type VersionLines } from "./version-lines.ts";

/** All resources of one scope. */
export type Snapshot = {
  /** SHA-256 (hex) of all `key\nhash\n` in key order: equal worlds have equal versions. */
  readonly version: string;
  readonly resources: SortedEntries<Resource>;
};

/** The changes by which a receiver gets from one snapshot to another. A full update replaces everything. */
export type SnapshotUpdate = {
  readonly version: string;
  readonly full: boolean;
  readonly resources: readonly Resource[];
  readonly removed: readonly ResourceKey[];
};

/** Creates a snapshot. If several resources have the same key, the last one is used. */
export function createSnapshot(resources: Iterable<Resource>): Snapshot {
  const byKey = new Map<ResourceKey, Resource>();
  for (const resource of resources) byKey.set(resource.key, resource);
  return sortSnapshot([...byKey.values()]).snapshot;
}

/** Returns the snapshot of resources with distinct keys, and the lines from which its version is computed. */
export function sortSnapshot(resources: readonly Resource[]): {
  readonly snapshot: Snapshot;
  readonly lines: VersionLines;
} {
  const values = resources.toSorted((a, b) => compareKeys(a.key, b.key));
  const keys = values.map(({ key }) => key);
  const lines = versionLinesOf({ keys, values: values.map(({ hash }) => hash) });
  return { snapshot: { version: versionOf(lines), resources: { keys, values } }, lines };
}

export const fullUpdate = ({ version, resources }: Snapshot): SnapshotUpdate => ({
  version,
  full: true,
  resources: resources.values,
  removed: [],
});

/** The smallest update from `previous` to `next`. */
export function diffSnapshots(previous: Snapshot, next: Snapshot): SnapshotUpdate {
  const { removed, added } = listChanges(previous.resources.values, next.resources.values);
  return {
    version: next.version,
    full: false,
    resources: added.filter(({ key, hash }) => findEntry(previous.resources, key)?.hash !== hash),
    removed: removed.map(({ key }) => key).filter((key) => findEntry(next.resources, key) === undefined),
  };
}
