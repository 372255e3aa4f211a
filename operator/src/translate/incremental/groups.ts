/**
 * Results with contributions of many objects, kept up to date by changes: a changed object touches only the
 * groups that it contributes to (docs/architecture.md, "Level, not event"). Results are sorted by their keys,
 * independently of history, so that they equal those of a build from scratch.
 */
import { collect } from "@svc-gateway/common/collections/join-lists.ts";
import { hasChanges, noChanges, type Changes } from "@svc-gateway/common/collections/list-changes.ts";
import { changeEntries, noEntries, type SortedEntries } from "@svc-gateway/common/ir/sorted-entries.ts";

export type Groups<M, R> = {
  /** The results of all groups, by key. The value is the same until one of them changes. */
  readonly entries: SortedEntries<R, string>;
  /** Removes and adds members. Returns the results that were thereby removed and added. */
  edit(changes: Changes<M>): Changes<R>;
};

/**
 * Groups members by key and builds a result for each group. `build` must return equal results for any order of
 * the members, and is called again only when a group has lost or gained one. A result for which `isSame`
 * returns true keeps its previous identity and is not a change.
 */
export function createGroups<M, R>(
  keyOf: (member: M) => string,
  build: (members: readonly [M, ...M[]]) => R,
  isSame: (a: R, b: R) => boolean = Object.is,
): Groups<M, R> {
  type Group = { readonly members: readonly [M, ...M[]]; readonly result: R };
  const groups = new Map<string, Group>();
  let entries: SortedEntries<R, string> = noEntries;

  /** The members of each group that the changes touch, by key. */
  const membersAfter = ({ removed, added }: Changes<M>): ReadonlyMap<string, readonly M[]> => {
    const members = new Map<string, readonly M[]>();
    for (const [key, leaving] of Map.groupBy(removed, keyOf)) {
      members.set(key, without(groups.get(key)?.members ?? [], leaving));
    }
    for (const [key, joining] of Map.groupBy(added, keyOf)) {
      const present = members.get(key) ?? groups.get(key)?.members;
      members.set(key, present === undefined ? joining : [...present, ...joining]);
    }
    return members;
  };

  return {
    get entries() {
      return entries;
    },
    edit(changes) {
      if (!hasChanges(changes)) return noChanges;
      const results = new Map<string, R | undefined>();
      const before: R[] = [];
      const after: R[] = [];
      for (const [key, members] of membersAfter(changes)) {
        const known = groups.get(key);
        if (isNonEmpty(members)) {
          const built = build(members);
          const isAsBefore = known !== undefined && isSame(known.result, built);
          const result = isAsBefore ? known.result : built;
          groups.set(key, { members, result });
          if (isAsBefore) continue;
          results.set(key, result);
          after.push(result);
        } else {
          groups.delete(key);
          results.set(key, undefined);
        }
        if (known !== undefined) before.push(known.result);
      }
      entries = changeEntries(entries, results);
      return { removed: before, added: after };
    },
  };
}

const isNonEmpty = <M>(members: readonly M[]): members is readonly [M, ...M[]] => members.length > 0;

/** A list of members sorted by their keys, with at most one member per key. */
export function createKeyedList<M>(keyOf: (member: M) => string): {
  readonly entries: SortedEntries<M, string>;
  edit(changes: Changes<M>): void;
} {
  let entries: SortedEntries<M, string> = noEntries;
  return {
    get entries() {
      return entries;
    },
    edit({ removed, added }) {
      const results = new Map<string, M | undefined>();
      for (const member of removed) results.set(keyOf(member), undefined);
      for (const member of added) results.set(keyOf(member), member);
      entries = changeEntries(entries, results);
    },
  };
}

/** The members without one occurrence of each removed member. */
function without<M>(members: readonly M[], removed: readonly M[]): M[] {
  if (removed.length === 0) return [...members];
  const counts = new Map<M, number>();
  for (const member of removed) counts.set(member, (counts.get(member) ?? 0) + 1);
  return members.filter((member) => {
    const count = counts.get(member) ?? 0;
    counts.set(member, count - 1);
    return count <= 0;
  });
}

/** Converts changes of objects into changes of their contributions. */
export const changesOf = <T, M>(
  { removed, added }: Changes<T>,
  contributions: (one: T) => readonly M[],
): Changes<M> => ({
  removed: collect(removed, contributions),
  added: collect(added, contributions),
});
