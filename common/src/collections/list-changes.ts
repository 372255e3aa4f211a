/** The difference between two lists. */
export type Changes<T> = { readonly removed: readonly T[]; readonly added: readonly T[] };

/** The size of the first window in which two lists are searched for the place where they continue alike. */
const firstWindow = 16;

/**
 * Compares two lists by the identity of their entries. Successive lists hold mostly the same objects in the same order,
 * which costs one comparison per entry. Where the order differs, an entry that has only moved can count as removed and
 * added.
 */
export function listChanges<T>(before: readonly T[], after: readonly T[]): Changes<T> {
  if (before === after) return noChanges;
  if (before.length === 0 || after.length === 0) return { removed: before, added: after };
  const start = commonStart(before, after);
  const end = commonEnd(before, after, start);
  const endB = before.length - end;
  const endA = after.length - end;
  if (endB === start && endA === start) return noChanges;
  const removed: T[] = [];
  const added: T[] = [];
  let b = start;
  let a = start;
  while (b < endB || a < endA) {
    if (b < endB && a < endA && before[b] === after[a]) {
      b++;
      a++;
      continue;
    }
    const [nextB, nextA] = resume({ list: before, from: b, end: endB }, { list: after, from: a, end: endA });
    while (b < nextB) removed.push(before[b++] as T);
    while (a < nextA) added.push(after[a++] as T);
  }
  return { removed, added };
}

/** The number of entries with which both lists begin. */
function commonStart(before: readonly unknown[], after: readonly unknown[]): number {
  const limit = Math.min(before.length, after.length);
  let length = 0;
  while (length < limit && before[length] === after[length]) length++;
  return length;
}

/** The number of entries with which both lists end, not counting those with which they begin. */
function commonEnd(before: readonly unknown[], after: readonly unknown[], start: number): number {
  const limit = Math.min(before.length, after.length) - start;
  const lastB = before.length - 1;
  const lastA = after.length - 1;
  let length = 0;
  while (length < limit && before[lastB - length] === after[lastA - length]) length++;
  return length;
}

/** The part of a list that has yet to be compared. */
type Stretch<T> = { readonly list: readonly T[]; readonly from: number; readonly end: number };

/**
 * Finds the first place from which both lists continue with the same entry, searched in windows of growing size;
 * otherwise returns both ends.
 */
function resume<T>(before: Stretch<T>, after: Stretch<T>): readonly [number, number] {
  const rest = Math.max(before.end - before.from, after.end - after.from);
  for (let window = firstWindow; ; window *= 8) {
    const untilA = Math.min(after.end, after.from + window);
    const places = new Map(
      after.list.slice(after.from, untilA).map((entry, index) => [entry, after.from + index]),
    );
    const untilB = Math.min(before.end, before.from + window);
    for (let index = before.from; index < untilB; index++) {
      const place = places.get(before.list[index] as T);
      if (place !== undefined) return [index, place];
    }
    if (window >= rest) return [before.end, after.end];
  }
}

export const noChanges: Changes<never> = { removed: [], added: [] };

export const hasChanges = ({ removed, added }: Changes<unknown>): boolean =>
  removed.length + added.length > 0;
