/** Counts the uses of names. */
export type UseCounts = {
  /** Number of names that are in use. */
  readonly size: number;
  count(name: string): number;
  add(names: Iterable<string>): void;
  /** Returns the names that are no longer in use. */
  remove(names: Iterable<string>): readonly string[];
};

export function createUseCounts(): UseCounts {
  const uses = new Map<string, number>();
  const count = (name: string): number => uses.get(name) ?? 0;
  return {
    get size() {
      return uses.size;
    },
    count,
    add(names) {
      for (const name of names) uses.set(name, count(name) + 1);
    },
    remove(names) {
      const unused: string[] = [];
      for (const name of names) {
        const left = count(name) - 1;
        if (left > 0) {
          uses.set(name, left);
        } else {
          uses.delete(name);
          unused.push(name);
        }
      }
      return unused;
    },
  };
}
