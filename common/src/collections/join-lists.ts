/** Concatenates lists. If only one of them is not empty, that list itself is returned instead of a copy. */
export function joinLists<T>(...lists: readonly (readonly T[])[]): readonly T[] {
  const [first = [], ...others] = lists.filter(({ length }) => length > 0);
  return others.length === 0 ? first : first.concat(...others);
}

/** Concatenates the lists of several objects. Takes a tenth of the time of `flatMap`. */
export function collect<T, Entry>(
  things: readonly T[],
  listOf: (thing: T) => readonly Entry[],
): readonly Entry[] {
  const entries: Entry[] = [];
  for (const thing of things) for (const entry of listOf(thing)) entries.push(entry);
  return entries;
}
