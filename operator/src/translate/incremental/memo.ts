/**
 * Remembering what was worked out from immutable objects. Nothing here can change a result: an entry is used only
 * while everything that it was computed from is the same object (docs/architecture.md, "Level, not event").
 */
import type { KindName } from "../../api/kinds.ts";
import type { World } from "../../world.ts";
import { answer, ask, createView, overhear, type Question, type View } from "./view.ts";

/** Remembers the result for each object. */
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

/** An answer that a computation got about the world. */
type Seen = {
  readonly question: Question;
  readonly answer: unknown;
  /** The list that was last found to give this answer: the same list gives the same answer again. */
  list: World[KindName];
};

/**
 * Remembers the result for each object until `extra` is another one, or the world gives another answer to something
 * that the computation asked of it.
 */
export function trackedMemo<I extends object, E, O>(
  compute: (input: I, extra: E, view: View) => O,
): (input: I, extra: E, world: World) => O {
  const entries = new WeakMap<I, { readonly extra: E; readonly seen: readonly Seen[]; readonly output: O }>();
  return (input, extra, world) => {
    const known = entries.get(input);
    if (known !== undefined && known.extra === extra && isUnchanged(known.seen, world)) return known.output;
    const seen: Seen[] = [];
    const view = createView(world, (question, given) => {
      seen.push({ question, answer: given, list: world[question.of] });
    });
    const output = compute(input, extra, view);
    entries.set(input, { extra, seen, output });
    return output;
  };
}

function isUnchanged(seen: readonly Seen[], world: World): boolean {
  for (const one of seen) {
    const list = world[one.question.of];
    if (one.list === list) continue;
    if (answer(world, one.question) !== one.answer) return false;
    one.list = list;
  }
  return true;
}

/**
 * Remembers the result for each object until a view gives another answer to something that the computation asked. Put to
 * the view again, the questions are known to whoever made the view, as if the computation had asked them.
 */
export function viewMemo<I extends object, O>(
  compute: (input: I, view: View) => O,
): (input: I, view: View) => O {
  type Entry = { readonly seen: readonly (readonly [Question, unknown])[]; readonly output: O };
  const entries = new WeakMap<I, Entry>();
  return (input, view) => {
    const known = entries.get(input);
    if (known?.seen.every(([question, given]) => ask(view, question) === given) === true) return known.output;
    const seen: (readonly [Question, unknown])[] = [];
    const output = compute(
      input,
      overhear(view, (question, given) => void seen.push([question, given])),
    );
    entries.set(input, { seen, output });
    return output;
  };
}

/**
 * Remembers the result for a list of objects, keyed by its first one, until the list holds other objects or `extra`
 * is another one. Of an empty list only the last result is remembered.
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

/** Whether two lists hold the same objects in the same order. */
export function haveSameItems(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false;
  return true;
}
