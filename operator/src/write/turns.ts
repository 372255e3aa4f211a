/** A queue of keys from several parties, which take turns: a party with many keys does not delay one with few. */
export type Turns = {
  /** Adds a key; a key that is already waiting is not added again. */
  add(key: string): void;
  /** Removes and returns the next key; undefined if none is waiting. */
  take(): string | undefined;
  clear(): void;
  readonly size: number;
};

/**
 * Creates an empty queue. Parties take turns in order of arrival; keys of one party are in the order in which they were
 * added.
 */
export function createTurns(partyOf: (key: string) => string): Turns {
  /** The waiting keys by party, the next party first. */
  const parties = new Map<string, Set<string>>();
  let size = 0;
  return {
    add(key) {
      const party = partyOf(key);
      const keys = parties.get(party) ?? new Set();
      parties.set(party, keys);
      if (keys.has(key)) return;
      keys.add(key);
      size += 1;
    },
    take() {
      for (const [party, keys] of parties) {
        const [key] = keys;
        parties.delete(party);
        if (key === undefined) continue;
        keys.delete(key);
        if (keys.size > 0) parties.set(party, keys);
        size -= 1;
        return key;
      }
      return undefined;
    },
    clear() {
      parties.clear();
      size = 0;
    },
    get size() {
      return size;
    },
  };
}
