import type { ResourceKey } from "./keys.ts";
import type { Resource } from "./resource.ts";
import { createSnapshot, type Snapshot } from "./snapshot.ts";
import { changeEntries, noEntries } from "./sorted-entries.ts";
import { changeVersionLines, versionOf, type VersionLines } from "./version-lines.ts";

/**
 * Makes the snapshots of one scope, one after the other, each from a list without two resources of one key. Each is what
 * `createSnapshot` gives, but of a large scope only what differs from the one before is sorted and formatted anew. The
 * same snapshot comes back when nothing differs.
 */
export function createSnapshotBuilder(): (resources: readonly Resource[]) => Snapshot {
  let last = createSnapshot([]);
  let lastList: readonly Resource[] = [];
  let lines: VersionLines = noEntries;
  return (list) => {
    const changes = differences(lastList, list);
    lastList = list;
    if (changes.size === 0) return last;
    const hashes = new Map([...changes].map(([key, resource]) => [key, resource?.hash]));
    lines = changeVersionLines(lines, hashes);
    const version = versionOf(lines);
    if (version !== last.version) last = { version, resources: changeEntries(last.resources, changes) };
    return last;
  };
}

/** How far a list is searched for the place where it goes on like the other one. */
const lookAhead = 16;

/**
 * How to get from one list to another: what is new or another object, and undefined for what is gone. Lists that follow
 * each other hold mostly the same objects in the same order; where they do not, more may be named than need be.
 */
function differences(
  before: readonly Resource[],
  after: readonly Resource[],
): ReadonlyMap<ResourceKey, Resource | undefined> {
  const gone: Resource[] = [];
  const come: Resource[] = [];
  let b = 0;
  let a = 0;
  while (b < before.length && a < after.length) {
    const old = before[b] as Resource;
    const fresh = after[a] as Resource;
    if (old === fresh) {
      b++;
      a++;
    } else if (after.slice(a, a + lookAhead).includes(old)) {
      come.push(fresh);
      a++;
    } else {
      gone.push(old);
      b++;
    }
  }
  const changes = new Map<ResourceKey, Resource | undefined>();
  for (const { key } of [...gone, ...before.slice(b)]) changes.set(key, undefined);
  for (const resource of [...come, ...after.slice(a)]) changes.set(resource.key, resource);
  return changes;
}
