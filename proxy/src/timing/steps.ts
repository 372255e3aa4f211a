/**
 * Long work in steps: a generator that yields wherever the event loop may run, and returns the result. The same work
 * can thus be done synchronously, or in slices between requests.
 */
export type Steps<Value> = Generator<undefined, Value, undefined>;

/** The number of items between two yields: tens of microseconds, so that slices end in time and yields cost little. */
const itemsPerStep = 32;

/** The duration of a slice, in milliseconds; its last step can exceed it. */
const sliceMs = 4;

/** Runs all steps synchronously. */
export function atOnce<Value>(steps: Steps<Value>): Value {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Runs the steps in slices, with a turn of the event loop between them. Rejects if a step throws. */
export async function inSlices<Value>(steps: Steps<Value>): Promise<Value> {
  for (;;) {
    const endMs = performance.now() + sliceMs;
    do {
      const step = steps.next();
      if (step.done === true) return step.value;
    } while (performance.now() < endMs);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Calls a function for each item, in steps. */
export function* forEachInSteps<Item>(items: Iterable<Item>, run: (item: Item) => void): Steps<void> {
  let done = 0;
  for (const item of items) {
    run(item);
    if (++done % itemsPerStep === 0) yield;
  }
}

/** Maps a list in steps. */
export function* mapInSteps<Item, Value>(
  items: Iterable<Item>,
  map: (item: Item, index: number) => Value,
): Steps<Value[]> {
  const values: Value[] = [];
  for (const item of items) {
    values.push(map(item, values.length));
    if (values.length % itemsPerStep === 0) yield;
  }
  return values;
}
