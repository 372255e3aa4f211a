/** Remembers for a while what has been verified; keys are hashes, so that no secret is kept. */
export type VerifiedCache<Value> = {
  get(key: string, nowMs: number): Value | undefined;
  set(key: string, value: Value, untilMs: number): void;
};

/**
 * Holds at most `maxEntries`; a full cache evicts its oldest entry. An entry expires when its time is over, however
 * often it was asked for.
 */
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
