import { listChanges, noChanges, type Changes } from "@svc-gateway/common/collections/list-changes.ts";
import type { KindName } from "../../api/kinds.ts";
import type { KubeObject } from "../../api/object.ts";
import { emptyWorld, type World } from "../../world.ts";
import { createView, type WorldQuery, type View } from "./view.ts";

export type TrackerOptions<I extends object, E, O> = {
  /** The objects of a World that get an output. */
  readonly inputs: (world: World) => readonly I[];
  readonly compute: (input: I, extra: E, view: View) => O;
};

type Entry<E, O> = { readonly extra: E; readonly queries: readonly string[]; readonly output: O };

/**
 * Computes an output for each object of a list, and keeps it until the object or its `extra` changes, or until
 * a lookup of the computation has another result. Each call returns the outputs that were removed and added
 * since the previous call. Its cost depends on the difference between the Worlds, not on their size, because
 * the inputs that depend on an object are indexed by its name.
 */
export function createTracker<I extends object, E, O>({
  inputs,
  compute,
}: TrackerOptions<I, E, O>): (world: World, extraOf: (input: I) => E) => Changes<O> {
  const entries = new Map<I, Entry<E, O>>();
  const dependents = createDependents<I>();
  const queriedKinds = new Set<KindName>();
  let last = emptyWorld;
  let lastExtraOf: ((input: I) => E) | undefined;

  const forget = (input: I, { queries }: Entry<E, O>): void => {
    entries.delete(input);
    for (const query of queries) dependents.remove(query, input);
  };

  const computeEntry = (input: I, extra: E, world: World): O => {
    const queries: string[] = [];
    const view = createView(world, (query) => {
      queriedKinds.add(query.of);
      const key = queryKey(query);
      if (!queries.includes(key)) queries.push(key);
    });
    const output = compute(input, extra, view);
    for (const query of queries) dependents.add(query, input);
    entries.set(input, { extra, queries, output });
    return output;
  };

  /** Inputs whose recorded lookups now have a different result. */
  const staleInputs = (world: World): ReadonlySet<I> => {
    const found = new Set<I>();
    for (const kind of queriedKinds) {
      for (const query of changedQueries(kind, last, world)) {
        for (const input of dependents.of(query)) found.add(input);
      }
    }
    return found;
  };

  return (world, extraOf) => {
    const { removed, added } = listChanges(inputs(last), inputs(world));
    const outdated = new Set(removed);
    for (const input of staleInputs(world)) outdated.add(input);
    if (extraOf !== lastExtraOf) {
      for (const [input, { extra }] of entries) if (extraOf(input) !== extra) outdated.add(input);
    }
    last = world;
    lastExtraOf = extraOf;
    if (outdated.size === 0 && added.length === 0) return noChanges;
    const removedInputs = new Set(removed);
    const toCompute = new Set(added);
    const before: O[] = [];
    for (const input of outdated) {
      const entry = entries.get(input);
      if (entry === undefined) continue;
      before.push(entry.output);
      forget(input, entry);
      if (!removedInputs.has(input)) toCompute.add(input);
    }
    return {
      removed: before,
      added: [...toCompute].map((input) => computeEntry(input, extraOf(input), world)),
    };
  };
}

/** The inputs that depend on each query. Most queries have a single dependent, which is stored without a set. */
function createDependents<I extends object>() {
  const dependents = new Map<string, I | Set<I>>();
  return {
    of(query: string): Iterable<I> {
      const dependent = dependents.get(query);
      if (dependent === undefined) return [];
      return dependent instanceof Set ? dependent : [dependent];
    },
    add(query: string, input: I): void {
      const dependent = dependents.get(query);
      if (dependent === undefined) dependents.set(query, input);
      else if (dependent instanceof Set) dependent.add(input);
      else if (dependent !== input) dependents.set(query, new Set([dependent, input]));
    },
    remove(query: string, input: I): void {
      const dependent = dependents.get(query);
      if (dependent instanceof Set) {
        dependent.delete(input);
        if (dependent.size === 0) dependents.delete(query);
      } else if (dependent === input) {
        dependents.delete(query);
      }
    },
  };
}

/** The result of every permission check depends on all ReferenceGrants. */
const queryKey = (query: WorldQuery): string =>
  "from" in query ? "ReferenceGrant" : objectKey(query.of, query.namespace, query.name);

const objectKey = (kind: KindName, namespace: string, name: string): string => `${kind} ${namespace}/${name}`;

function* changedQueries(kind: KindName, before: World, after: World): Iterable<string> {
  if (before[kind] === after[kind]) return;
  if (kind === "ReferenceGrant") yield "ReferenceGrant";
  const { removed, added } = listChanges<KubeObject>(before[kind], after[kind]);
  for (const { metadata } of [...removed, ...added]) {
    yield objectKey(kind, metadata.namespace ?? "", metadata.name);
  }
}
