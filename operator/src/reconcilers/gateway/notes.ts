import { createListeners } from "@svc-gateway/common/collections/listeners.ts";

/** Values by name, with listeners for changes. */
export type Notes<Value> = {
  get(name: string): Value | undefined;
  /** Sets the value of a name; undefined removes it. */
  set(name: string, value: Value | undefined): void;
  subscribe(listener: (name: string) => void): () => void;
};

export function createNotes<Value>(): Notes<Value> {
  const values = new Map<string, Value>();
  const listeners = createListeners<[name: string]>();
  return {
    get: (name) => values.get(name),
    set(name, value) {
      if (values.get(name) === value) return;
      if (value === undefined) values.delete(name);
      else values.set(name, value);
      listeners.notify(name);
    },
    subscribe: listeners.subscribe,
  };
}
