/**
 * Runs at most once at a time: who asks while it runs shares the next run with all others that do, however many, and
 * nobody is given what was found out before they asked.
 */
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
