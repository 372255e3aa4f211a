/** The lists one after the other; where only one of them holds anything, that one itself, however long it is. */
export function joinLists<T>(...lists: readonly (readonly T[])[]): readonly T[] {
  const [first = [], ...others] = lists.filter(({ length }) => length > 0);
  return others.length === 0 ? first : first.concat(...others);
}
