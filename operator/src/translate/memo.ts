/**
 * Remembering what was worked out from immutable objects. Nothing here can change a result: an entry is used only
 * while everything that it was computed from is the same object (docs/architecture.md, "Level-based").
 */
import type { KubeObject } from "../api/object.ts";
import type { KindName } from "../api/kinds.ts";
import type { Lookup } from "../world.ts";

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

/** An answer that a computation got from its lookup. */
type Seen = {
  readonly kind: KindName;
  readonly namespace: string;
  readonly name: string;
  readonly answer: KubeObject | undefined;
};

/**
 * Remembers the result for each object until `extra` or an object that the computation looked up is another one,
 * appeared or went away.
 */
export function trackedMemo<I extends object, E, O>(
  compute: (input: I, extra: E, lookup: Lookup) => O,
): (input: I, extra: E, lookup: Lookup) => O {
  const entries = new WeakMap<I, { readonly extra: E; readonly seen: readonly Seen[]; readonly output: O }>();
  return (input, extra, lookup) => {
    const known = entries.get(input);
    if (known !== undefined && known.extra === extra && known.seen.every((one) => isUnchanged(one, lookup))) {
      return known.output;
    }
    const seen: Seen[] = [];
    const output = compute(input, extra, (kind, namespace, name) => {
      const answer = lookup(kind, namespace, name);
      seen.push({ kind, namespace, name, answer });
      return answer;
    });
    entries.set(input, { extra, seen, output });
    return output;
  };
}

const isUnchanged = ({ kind, namespace, name, answer }: Seen, lookup: Lookup): boolean =>
  lookup(kind, namespace, name) === answer;

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
const haveSameItems = (a: readonly object[], b: readonly object[]): boolean =>
  a === b || (a.length === b.length && a.every((item, index) => item === b[index]));
