/** Serialises runs. Callers during a run share the next one, so that no caller gets a result older than its call. */
export function oneAtATime<Value>(run: () => Promise<Value>): () => Promise<Value> {
  let last: Promise<unknown> = Promise.resolve();
  let next: Promise<Value> | undefined;
  return () => {
    if (next !== undefined) return next;
    const mine = last.then(() => {
      next = undefined;
      return run();
    });
    next = mine;
    last = mine.catch(() => undefined);
    return mine;
  };
}
