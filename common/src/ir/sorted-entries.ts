import type { ResourceKey } from "./keys.ts";

/**
 * Values by key, as two lists in key order. Immutable, cheap to compare, and cheap to derive from another instance with
 * few changes.
 */
export type SortedEntries<T, K extends string = ResourceKey> = {
  readonly keys: readonly K[];
  readonly values: readonly T[];
};

export const noEntries: SortedEntries<never, never> = { keys: [], values: [] };

/** Compares keys by UTF-16 code units, with the same result on every machine. */
export const compareKeys = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The entries of a map in key order; keys without a value (undefined) are omitted. */
export function sortEntries<T, K extends string>(
  entries: ReadonlyMap<K, T | undefined>,
): SortedEntries<T, K> {
  const keys: K[] = [];
  const values: T[] = [];
  let isOrdered = true;
  entries.forEach((value, key) => {
    if (value === undefined) return;
    if (isOrdered && keys.length > 0 && (keys[keys.length - 1] as K) > key) isOrdered = false;
    keys.push(key);
    values.push(value);
  });
  if (isOrdered) return { keys, values };
  // Without a function, the order is that of `compareKeys`, and sorting takes two thirds of the time.
  keys.sort();
  // Each of these keys has a value.
  return { keys, values: keys.map((key) => entries.get(key) as T) };
}

export function findEntry<T, K extends string>({ keys, values }: SortedEntries<T, K>, key: K): T | undefined {
  const at = positionOf(keys, key);
  return keys[at] === key ? values[at] : undefined;
}

/** The values of all keys that begin with a text, in key order. */
export function entriesUnder<T, K extends string>(
  { keys, values }: SortedEntries<T, K>,
  prefix: string,
): readonly T[] {
  const start = positionOf(keys, prefix);
  let end = start;
  while (keys[end]?.startsWith(prefix) === true) end++;
  return values.slice(start, end);
}

/** The maximum number of changes that are inserted one by one: copying a long list is cheaper than merging it. */
const fewChanges = 16;

/** Merges changes: a value sets the entry of a key, undefined removes it. */
export function changeEntries<T, K extends string>(
  current: SortedEntries<T, K>,
  changes: ReadonlyMap<K, T | undefined>,
): SortedEntries<T, K> {
  if (changes.size === 0) return current;
  if (current.keys.length === 0) return sortEntries(changes);
  return changes.size <= fewChanges ? putIn(current, changes) : mergeIn(current, changes);
}

/** Inserts changes one by one. If only values differ, the list of keys is reused. */
function putIn<T, K extends string>(
  current: SortedEntries<T, K>,
  changes: ReadonlyMap<K, T | undefined>,
): SortedEntries<T, K> {
  let ownKeys: K[] | undefined;
  const values = current.values.slice();
  for (const [key, value] of changes) {
    const at = positionOf(ownKeys ?? current.keys, key);
    const isPresent = (ownKeys ?? current.keys)[at] === key;
    if (isPresent && value !== undefined) values[at] = value;
    if (isPresent === (value !== undefined)) continue;
    ownKeys ??= current.keys.slice();
    if (value === undefined) {
      ownKeys.splice(at, 1);
      values.splice(at, 1);
    } else {
      ownKeys.splice(at, 0, key);
      values.splice(at, 0, value);
    }
  }
  return { keys: ownKeys ?? current.keys, values };
}

function mergeIn<T, K extends string>(
  current: SortedEntries<T, K>,
  changes: ReadonlyMap<K, T | undefined>,
): SortedEntries<T, K> {
  const keys: K[] = [];
  const values: T[] = [];
  let at = 0;
  const keepUntil = (end: number): void => {
    for (; at < end; at++) {
      keys.push(current.keys[at] as K);
      values.push(current.values[at] as T);
    }
  };
  for (const key of [...changes.keys()].sort()) {
    keepUntil(positionOf(current.keys, key));
    if (current.keys[at] === key) at++;
    const value = changes.get(key);
    if (value === undefined) continue;
    keys.push(key);
    values.push(value);
  }
  keepUntil(current.keys.length);
  return { keys, values };
}

/** The index of a key, or the index at which it would be inserted. */
function positionOf(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] as string) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
