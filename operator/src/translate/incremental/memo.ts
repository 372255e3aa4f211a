/**
 * Functions that remember results by the identity of immutable inputs. They cannot change a result: an entry is
 * used only while every input that it was computed from is the same object (docs/architecture.md, "Level, not
 * event"). The README of this folder describes when to use each.
 */
import type { KindName } from "../../api/kinds.ts";
import type { World } from "../../world.ts";
import { createView, recordLookups, repeatQuery, resultIn, type View, type WorldQuery } from "./view.ts";

/** Remembers the result for each object, for the lifetime of the object. */
export function memo<I extends object, O>(compute: (input: I) => O): (input: I) => O {
  const outputs = new WeakMap<I, { readonly output: O }>();
  return (input) => {
    const known = outputs.get(input);
    if (known !== undefined) return known.output;
    const output = compute(input);
    outputs.set(input, { output });
    return output;
  };
}

/** Remembers the result for each pair of objects, for the lifetime of both. */
export function memo2<A extends object, B extends object, O>(compute: (a: A, b: B) => O): (a: A, b: B) => O {
  const withFirst = memo((a: A) => memo((b: B) => compute(a, b)));
  return (a, b) => withFirst(a)(b);
}

/** A query of a computation, with its result. */
type RecordedQuery = {
  readonly query: WorldQuery;
  readonly result: unknown;
  /** The list for which this result was last confirmed. The same list gives the same result again. */
  list: World[KindName];
};

/** Remembers the result for each object until `extra` changes, or a lookup of the computation has another result. */
export function trackedMemo<I extends object, E, O>(
  compute: (input: I, extra: E, view: View) => O,
): (input: I, extra: E, world: World) => O {
  const entries = new WeakMap<
    I,
    { readonly extra: E; readonly queries: readonly RecordedQuery[]; readonly output: O }
  >();
  return (input, extra, world) => {
    const known = entries.get(input);
    if (known !== undefined && known.extra === extra && isUnchanged(known.queries, world))
      return known.output;
    const queries: RecordedQuery[] = [];
    const view = createView(world, (query, result) => {
      queries.push({ query, result, list: world[query.of] });
    });
    const output = compute(input, extra, view);
    entries.set(input, { extra, queries, output });
    return output;
  };
}

function isUnchanged(queries: readonly RecordedQuery[], world: World): boolean {
  for (const one of queries) {
    const list = world[one.query.of];
    if (one.list === list) continue;
    if (resultIn(world, one.query) !== one.result) return false;
    one.list = list;
  }
  return true;
}

/**
 * Remembers the result for each object until a lookup of the computation has another result in the given view.
 * Each call repeats the lookups on that view, so that an enclosing computation records them as its own.
 */
export function viewMemo<I extends object, O>(
  compute: (input: I, view: View) => O,
): (input: I, view: View) => O {
  type Entry = { readonly queries: readonly (readonly [WorldQuery, unknown])[]; readonly output: O };
  const entries = new WeakMap<I, Entry>();
  return (input, view) => {
    const known = entries.get(input);
    if (known?.queries.every(([query, result]) => repeatQuery(view, query) === result) === true)
      return known.output;
    const queries: (readonly [WorldQuery, unknown])[] = [];
    const output = compute(
      input,
      recordLookups(view, (query, result) => void queries.push([query, result])),
    );
    entries.set(input, { queries, output });
    return output;
  };
}

/**
 * Remembers the result for a list of objects until the list contains other objects or `extra` changes. Entries
 * are keyed by the first object of the list; for the empty list, only the last result is remembered.
 */
export function listMemo<I extends object, E, O>(
  compute: (inputs: readonly I[], extra: E) => O,
): (inputs: readonly I[], extra: E) => O {
  type Entry = { readonly inputs: readonly I[]; readonly extra: E; readonly output: O };
  const entries = new WeakMap<I, Entry>();
  let ofEmptyList: Entry | undefined;
  return (inputs, extra) => {
    const [first] = inputs;
    const known = first === undefined ? ofEmptyList : entries.get(first);
    if (known !== undefined && known.extra === extra && haveSameItems(known.inputs, inputs)) {
      return known.output;
    }
    const entry = { inputs, extra, output: compute(inputs, extra) };
    if (first === undefined) ofEmptyList = entry;
    else entries.set(first, entry);
    return entry.output;
  };
}

/** Whether two lists contain the same objects in the same order. */
export function haveSameItems(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false;
  return true;
}
