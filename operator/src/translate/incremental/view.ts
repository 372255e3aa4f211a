/** What a computation can ask of the world, as questions that can be put again to a later world. */
import type { KindName } from "../../api/kinds.ts";
import { createLookup, type Lookup, type World } from "../../world.ts";
import { createPermits, type Permits, type Referent, type Referrer } from "../reference-grants.ts";

/** The world as a computation sees it whose result is remembered: only through questions. */
export type View = { readonly lookup: Lookup; readonly permits: Permits };

/** A question, and the kind of the objects (`of`) that its answer follows from. */
export type Question =
  | { readonly of: KindName; readonly namespace: string; readonly name: string }
  | { readonly of: "ReferenceGrant"; readonly from: Referrer; readonly to: Referent };

/** Equal answers are identical: a stored object, undefined, or a boolean. */
export const answer = (world: World, question: Question): unknown => ask(openView(world), question);

/** Puts a question to a view. */
export const ask = (view: View, question: Question): unknown =>
  "from" in question
    ? view.permits(question.from, question.to)
    : view.lookup(question.of, question.namespace, question.name);

const openView = (world: World): View => ({ lookup: createLookup(world), permits: createPermits(world) });

type OnAnswer = (question: Question, given: unknown) => void;

/** A view of a world that tells `onAnswer` what was asked of it. */
export const createView = (world: World, onAnswer: OnAnswer): View => overhear(openView(world), onAnswer);

/** The same view, which tells `onAnswer` as well. */
export const overhear = ({ lookup, permits }: View, onAnswer: OnAnswer): View => ({
  lookup: (kind, namespace, name) => {
    const found = lookup(kind, namespace, name);
    onAnswer({ of: kind, namespace, name }, found);
    return found;
  },
  permits: (from, to) => {
    const permitted = permits(from, to);
    onAnswer({ of: "ReferenceGrant", from, to }, permitted);
    return permitted;
  },
});
