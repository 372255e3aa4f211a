/** Callbacks that are called when something changes. */
export type Listeners<Arguments extends readonly unknown[] = []> = {
  /**
   * Registers a function, which is called once per notification even if it is registered several times. The returned
   * function removes it, and can be called repeatedly.
   */
  subscribe(listener: (...values: Arguments) => void): () => void;
  /** Calls each function that was registered when the notification began and has not been removed since. */
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
