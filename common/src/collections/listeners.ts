/** Callbacks that are called when something changes. */
export type Listeners<Arguments extends readonly unknown[] = []> = {
  /** Calls back from now on, once for each function; the returned function ends it, and may be called more than once. */
  subscribe(listener: (...values: Arguments) => void): () => void;
  /** Calls each that was there when the call began and has not left since. */
  notify(...values: Arguments): void;
  readonly isEmpty: boolean;
};

export function createListeners<Arguments extends readonly unknown[] = []>(): Listeners<Arguments> {
  const present = new Set<(...values: Arguments) => void>();
  return {
    subscribe(listener) {
      present.add(listener);
      return () => void present.delete(listener);
    },
    notify(...values) {
      for (const listener of [...present]) if (present.has(listener)) listener(...values);
    },
    get isEmpty() {
      return present.size === 0;
    },
  };
}
