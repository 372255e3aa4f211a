import { listChanges, noChanges, type Changes } from "@svc-gateway/common/collections/list-changes.ts";
import type { KindName } from "../../api/kinds.ts";
import type { KubeObject } from "../../api/object.ts";
import { emptyWorld, type World } from "../../world.ts";
import { createView, type Question, type View } from "./view.ts";

export type TrackerOptions<I extends object, E, O> = {
  /** The objects of a world that something is worked out for. */
  readonly inputs: (world: World) => readonly I[];
  readonly compute: (input: I, extra: E, view: View) => O;
};

type Entry<E, O> = { readonly extra: E; readonly questions: readonly string[]; readonly output: O };

/**
 * Works something out for each object of a list, and keeps it until the object or its `extra` is another one, or the
 * world gives another answer to something that was asked of it. Each call gives the outputs that are no longer true and
 * those that are new since the call before. Of a world that differs little from the last one, only what differs is
 * looked at: who asked for an object is known by the name of that object.
 */
export function createTracker<I extends object, E, O>({
  inputs,
  compute,
}: TrackerOptions<I, E, O>): (world: World, extraOf: (input: I) => E) => Changes<O> {
  const entries = new Map<I, Entry<E, O>>();
  const askers = createAskers<I>();
  const askedKinds = new Set<KindName>();
  let last = emptyWorld;
  let lastExtraOf: ((input: I) => E) | undefined;

  const forget = (input: I, { questions }: Entry<E, O>): void => {
    entries.delete(input);
    for (const question of questions) askers.remove(question, input);
  };

  const work = (input: I, extra: E, world: World): O => {
    const questions: string[] = [];
    const view = createView(world, (question) => {
      askedKinds.add(question.of);
      const key = questionKey(question);
      if (!questions.includes(key)) questions.push(key);
    });
    const output = compute(input, extra, view);
    for (const question of questions) askers.add(question, input);
    entries.set(input, { extra, questions, output });
    return output;
  };

  /** Those who asked for something that has another answer now. */
  const misinformed = (world: World): ReadonlySet<I> => {
    const found = new Set<I>();
    for (const kind of askedKinds) {
      for (const question of changedAnswers(kind, last, world)) {
        for (const input of askers.of(question)) found.add(input);
      }
    }
    return found;
  };

  return (world, extraOf) => {
    const { gone, come } = listChanges(inputs(last), inputs(world));
    const outdated = new Set(gone);
    for (const input of misinformed(world)) outdated.add(input);
    if (extraOf !== lastExtraOf) {
      for (const [input, { extra }] of entries) if (extraOf(input) !== extra) outdated.add(input);
    }
    last = world;
    lastExtraOf = extraOf;
    if (outdated.size === 0 && come.length === 0) return noChanges;
    const absent = new Set(gone);
    const fresh = new Set(come);
    const before: O[] = [];
    for (const input of outdated) {
      const entry = entries.get(input);
      if (entry === undefined) continue;
      before.push(entry.output);
      forget(input, entry);
      if (!absent.has(input)) fresh.add(input);
    }
    return { gone: before, come: [...fresh].map((input) => work(input, extraOf(input), world)) };
  };
}

/** Who asked what. Most questions are asked by one object only, which is kept without a set around it. */
function createAskers<I extends object>() {
  const askers = new Map<string, I | Set<I>>();
  return {
    of(question: string): Iterable<I> {
      const asking = askers.get(question);
      if (asking === undefined) return [];
      return asking instanceof Set ? asking : [asking];
    },
    add(question: string, input: I): void {
      const asking = askers.get(question);
      if (asking === undefined) askers.set(question, input);
      else if (asking instanceof Set) asking.add(input);
      else if (asking !== input) askers.set(question, new Set([asking, input]));
    },
    remove(question: string, input: I): void {
      const asking = askers.get(question);
      if (asking instanceof Set) {
        asking.delete(input);
        if (asking.size === 0) askers.delete(question);
      } else if (asking === input) {
        askers.delete(question);
      }
    },
  };
}

/** All that was asked of the ReferenceGrants follows from all of them. */
const questionKey = (question: Question): string =>
  "from" in question ? "ReferenceGrant" : objectKey(question.of, question.namespace, question.name);

const objectKey = (kind: KindName, namespace: string, name: string): string => `${kind} ${namespace}/${name}`;

function* changedAnswers(kind: KindName, before: World, after: World): Iterable<string> {
  if (before[kind] === after[kind]) return;
  if (kind === "ReferenceGrant") yield "ReferenceGrant";
  const { gone, come } = listChanges<KubeObject>(before[kind], after[kind]);
  for (const { metadata } of [...gone, ...come]) {
    yield objectKey(kind, metadata.namespace ?? "", metadata.name);
  }
}
