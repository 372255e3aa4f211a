/**
 * What many objects contribute to, kept in line with them: a change of one object touches only the groups that it
 * contributes to (docs/architecture.md, "Level, not event"). The list of a group is in the order of its keys, whatever
 * happened before, so that the result is the one that a build from scratch gives.
 */
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
 * the members; it is asked again only when a group has lost or gained one.
 */
export function createGroups<M, R>(
  keyOf: (member: M) => string,
  build: (members: readonly [M, ...M[]]) => R,
): Groups<M, R> {
  const groups = new Map<string, { readonly members: readonly [M, ...M[]]; readonly result: R }>();
  let entries: SortedEntries<R, string> = noEntries;

  return {
    get entries() {
      return entries;
    },
    edit(changes) {
      if (!hasChanges(changes)) return noChanges;
      const { gone, come } = changes;
      const goneByKey = Map.groupBy(gone, keyOf);
      const comeByKey = Map.groupBy(come, keyOf);
      const results = new Map<string, R | undefined>();
      const before: R[] = [];
      for (const key of new Set([...goneByKey.keys(), ...comeByKey.keys()])) {
        const known = groups.get(key);
        if (known !== undefined) before.push(known.result);
        const [first, ...others] = without(known?.members ?? [], goneByKey.get(key) ?? []).concat(
          comeByKey.get(key) ?? [],
        );
        if (first === undefined) {
          groups.delete(key);
          results.set(key, undefined);
        } else {
          const members: readonly [M, ...M[]] = [first, ...others];
          const result = build(members);
          groups.set(key, { members, result });
          results.set(key, result);
        }
      }
      entries = changeEntries(entries, results);
      return { gone: before, come: [...results.values()].filter((result) => result !== undefined) };
    },
  };
}

/** Groups of one: a list in the order of its keys. */
export const createKeyedList = <M>(keyOf: (member: M) => string): Groups<M, M> =>
  createGroups(keyOf, ([member]) => member);

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
  gone: gone.flatMap(contributions),
  come: come.flatMap(contributions),
});
