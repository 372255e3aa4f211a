/**
 * What many objects contribute to, kept in line with them: a change of one object touches only the groups that it
 * contributes to (docs/architecture.md, "Level, not event"). The list of a group is in the order of its keys, whatever
 * happened before, so that the result is the one that a build from scratch gives.
 */
import { collect } from "@svc-gateway/common/collections/join-lists.ts";
import { hasChanges, noChanges, type Changes } from "@svc-gateway/common/collections/list-changes.ts";
import { changeEntries, noEntries, type SortedEntries } from "@svc-gateway/common/ir/sorted-entries.ts";

export type Groups<M, R> = {
  /** The results of all groups, by key. The same value for as long as none changes. */
  readonly entries: SortedEntries<R, string>;
  /** Takes members out and in; gives the results that are no longer there, and those that are new. */
  edit(changes: Changes<M>): Changes<R>;
};

/**
 * Groups members by key and works out a result for each group. `build` must give equal results whatever the order of
 * the members; it is asked again only when a group has lost or gained one. A result that is the same as before stays, and
 * is no change.
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
  const membersAfter = ({ gone, come }: Changes<M>): ReadonlyMap<string, readonly M[]> => {
    const members = new Map<string, readonly M[]>();
    for (const [key, absent] of Map.groupBy(gone, keyOf)) {
      members.set(key, without(groups.get(key)?.members ?? [], absent));
    }
    for (const [key, fresh] of Map.groupBy(come, keyOf)) {
      const present = members.get(key) ?? groups.get(key)?.members;
      members.set(key, present === undefined ? fresh : [...present, ...fresh]);
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
        if (isInhabited(members)) {
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
      return { gone: before, come: after };
    },
  };
}

const isInhabited = <M>(members: readonly M[]): members is readonly [M, ...M[]] => members.length > 0;

/** Of members by key of which there is never more than one at a time: a list in the order of the keys. */
export function createKeyedList<M>(keyOf: (member: M) => string): {
  readonly entries: SortedEntries<M, string>;
  edit(changes: Changes<M>): void;
} {
  let entries: SortedEntries<M, string> = noEntries;
  return {
    get entries() {
      return entries;
    },
    edit({ gone, come }) {
      const results = new Map<string, M | undefined>();
      for (const member of gone) results.set(keyOf(member), undefined);
      for (const member of come) results.set(keyOf(member), member);
      entries = changeEntries(entries, results);
    },
  };
}

/** The members without each of those that are gone, once. */
function without<M>(members: readonly M[], gone: readonly M[]): M[] {
  if (gone.length === 0) return [...members];
  const counts = new Map<M, number>();
  for (const member of gone) counts.set(member, (counts.get(member) ?? 0) + 1);
  return members.filter((member) => {
    const count = counts.get(member) ?? 0;
    counts.set(member, count - 1);
    return count <= 0;
  });
}

/** The changes of what objects contribute, from the changes of the objects. */
export const changesOf = <T, M>(
  { gone, come }: Changes<T>,
  contributions: (one: T) => readonly M[],
): Changes<M> => ({
  gone: collect(gone, contributions),
  come: collect(come, contributions),
});
