/** Remembers the results of verifications for a limited time; keys are hashes, so that no secret is stored. */
export type VerifiedCache<Value> = {
  get(key: string, nowMs: number): Value | undefined;
  set(key: string, value: Value, untilMs: number): void;
};

/** Creates a cache of `maxEntries`; a full cache evicts its oldest entry. Reading an entry does not extend its time. */
export function createVerifiedCache<Value>(maxEntries: number): VerifiedCache<Value> {
  const entries = new Map<string, { readonly value: Value; readonly untilMs: number }>();
  return {
    get(key, nowMs) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      if (nowMs < entry.untilMs) return entry.value;
      entries.delete(key);
      return undefined;
    },
    set(key, value, untilMs) {
      entries.delete(key);
      if (entries.size >= maxEntries) {
        const [oldest] = entries.keys();
        if (oldest !== undefined) entries.delete(oldest);
      }
      entries.set(key, { value, untilMs });
    },
  };
}
