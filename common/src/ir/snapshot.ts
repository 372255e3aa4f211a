import { createHash } from "node:crypto";
import type { ResourceKey } from "./keys.ts";
import type { Resource } from "./resource.ts";

/** All resources of one scope. */
export type Snapshot = {
  /** SHA-256 (hex) of all `key\nhash\n` in key order: equal worlds have equal versions. */
  readonly version: string;
  readonly resources: ReadonlyMap<ResourceKey, Resource>;
};

/** What a receiver must change to get from one snapshot to another. A full update replaces everything. */
export type SnapshotUpdate = {
  readonly version: string;
  readonly full: boolean;
  readonly resources: readonly Resource[];
  readonly removed: readonly ResourceKey[];
};

export function createSnapshot(resources: Iterable<Resource>): Snapshot {
  const byKey = new Map<ResourceKey, Resource>();
  for (const resource of resources) byKey.set(resource.key, resource);
  return { version: snapshotVersion(byKey), resources: byKey };
}

export function snapshotVersion(resources: ReadonlyMap<ResourceKey, Resource>): string {
  const hash = createHash("sha256");
  const keys = [...resources.keys()].sort(compareKeys);
  // In pieces: a call for each of ten thousands of lines would cost more than the hashing.
  let lines = "";
  for (const key of keys) {
    lines += `${key}\n${resources.get(key)?.hash ?? ""}\n`;
    if (lines.length < maxPieceLength) continue;
    hash.update(lines);
    lines = "";
  }
  return hash.update(lines).digest("hex");
}

const maxPieceLength = 64 * 1024;

/** Key order of versions and listings: by UTF-16 code units, the same on every machine. */
const compareKeys = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

export const fullUpdate = (snapshot: Snapshot): SnapshotUpdate => ({
  version: snapshot.version,
  full: true,
  resources: [...snapshot.resources.values()],
  removed: [],
});

/** The smallest update from `previous` to `next`. */
export function diffSnapshots(previous: Snapshot, next: Snapshot): SnapshotUpdate {
  const resources: Resource[] = [];
  for (const [key, resource] of next.resources) {
    if (previous.resources.get(key)?.hash !== resource.hash) resources.push(resource);
  }
  const removed = [...previous.resources.keys()].filter((key) => !next.resources.has(key));
  return { version: next.version, full: false, resources, removed };
}
