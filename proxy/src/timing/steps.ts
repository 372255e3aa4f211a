/**
 * Long work in steps: a generator that yields where the event loop may run in between, and returns the result. So the same
 * work can be done at once, or in slices beside requests.
 */
export type Steps<Value> = Generator<undefined, Value, undefined>;

/** Items of a loop between two yields: some tens of microseconds, so that slices end in time and yields cost nothing. */
const itemsPerStep = 32;

/** How long a slice may take, in milliseconds; the last of its steps may take longer. */
const sliceMs = 4;

/** Does all steps at once. */
export function atOnce<Value>(steps: Steps<Value>): Value {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Does the steps in slices, and lets the event loop run once between two of them. Rejects with what a step throws. */
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

/** Does something for each item in steps. */
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
