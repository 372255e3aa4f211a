/** How to get from one list to another: what is no longer in it, and what is new in it. */
export type Changes<T> = { readonly gone: readonly T[]; readonly come: readonly T[] };

/** How far two lists are searched at first for the place where they go on alike. */
const firstWindow = 16;

/**
 * Compares two lists by the identity of their entries. Lists that follow each other hold mostly the same objects in the
 * same order, which costs one comparison per entry; where they do not, an entry may be told as gone and come although it
 * has only moved.
 */
export function listChanges<T>(before: readonly T[], after: readonly T[]): Changes<T> {
  if (before.length === 0 || after.length === 0) return { gone: before, come: after };
  const gone: T[] = [];
  const come: T[] = [];
  let b = 0;
  let a = 0;
  while (before !== after && (b < before.length || a < after.length)) {
    if (b < before.length && a < after.length && before[b] === after[a]) {
      b++;
      a++;
      continue;
    }
    const [nextB, nextA] = resume(before, after, b, a);
    while (b < nextB) gone.push(before[b++] as T);
    while (a < nextA) come.push(after[a++] as T);
  }
  return { gone, come };
}

/** The first place from which both lists go on with the same entry, searched in windows that grow; else both ends. */
function resume<T>(
  before: readonly T[],
  after: readonly T[],
  b: number,
  a: number,
): readonly [number, number] {
  const rest = Math.max(before.length - b, after.length - a);
  for (let window = firstWindow; ; window *= 8) {
    const places = new Map(after.slice(a, a + window).map((entry, index) => [entry, a + index]));
    const until = Math.min(before.length, b + window);
    for (let index = b; index < until; index++) {
      const place = places.get(before[index] as T);
      if (place !== undefined) return [index, place];
    }
    if (window >= rest) return [before.length, after.length];
  }
}

export const noChanges: Changes<never> = { gone: [], come: [] };

export const hasChanges = ({ gone, come }: Changes<unknown>): boolean => gone.length + come.length > 0;
