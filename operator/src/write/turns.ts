/** Keys that wait, of parties that take turns: a party with many keys does not delay one with few. */
export type Turns = {
  /** Once however often it is added. */
  add(key: string): void;
  /** The next key, which waits no more; undefined when none waits. */
  take(): string | undefined;
  clear(): void;
  readonly size: number;
};

/** Parties take turns in the order in which they came; keys of one party in the order in which they were added. */
export function createTurns(partyOf: (key: string) => string): Turns {
  /** The next party first. */
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
