import type { ResourceKey } from "./keys.ts";
import { hasChanges, listChanges } from "../collections/list-changes.ts";
import type { Resource } from "./resource.ts";
import { createSnapshot, sortSnapshot, type Snapshot } from "./snapshot.ts";
import { changeEntries } from "./sorted-entries.ts";
import { changeVersionLines, noVersionLines, versionOf } from "./version-lines.ts";

/**
 * Creates a builder of the successive snapshots of one scope, each from a list in which every key occurs once. Each
 * snapshot equals the result of `createSnapshot`, but only the difference to the previous one is sorted and formatted.
 * If nothing differs, the previous snapshot is returned.
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
    // Nothing of the last snapshot remains, so modifying it would save no work.
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
