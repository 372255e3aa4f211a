import type { ResourceKey } from "./keys.ts";
import { hasChanges, listChanges } from "../collections/list-changes.ts";
import type { Resource } from "./resource.ts";
import { createSnapshot, sortSnapshot, type Snapshot } from "./snapshot.ts";
import { changeEntries } from "./sorted-entries.ts";
import { changeVersionLines, noVersionLines, versionOf } from "./version-lines.ts";

/**
 * Makes the snapshots of one scope, one after the other, each from a list without two resources of one key. Each is
 * what `createSnapshot` gives, but only the difference to the last one is sorted and formatted. The same snapshot is
 * returned when nothing differs.
 */
export function createSnapshotBuilder(): (resources: readonly Resource[]) => Snapshot {
  let last = createSnapshot([]);
  let lastList: readonly Resource[] = [];
  let lines = noVersionLines;
  const rebuild = (list: readonly Resource[]): Snapshot => {
    const sorted = sortSnapshot(list);
    lines = sorted.lines;
    if (sorted.snapshot.version !== last.version) last = sorted.snapshot;
    return last;
  };
  return (list) => {
    const listed = listChanges(lastList, list);
    lastList = list;
    if (!hasChanges(listed)) return last;
    // Nothing of the last snapshot is left, so changing it is of no use.
    if (listed.added.length === list.length) return rebuild(list);
    const changes = new Map<ResourceKey, Resource | undefined>();
    for (const { key } of listed.removed) changes.set(key, undefined);
    for (const resource of listed.added) changes.set(resource.key, resource);
    lines = changeVersionLines(lines, hashesOf(changes));
    const version = versionOf(lines);
    if (version !== last.version) last = { version, resources: changeEntries(last.resources, changes) };
    return last;
  };
}

const hashesOf = (
  changes: ReadonlyMap<ResourceKey, Resource | undefined>,
): ReadonlyMap<ResourceKey, string | undefined> =>
  new Map([...changes].map(([key, resource]) => [key, resource?.hash]));
