/** Read access to a World that records every lookup, so that remembered results can be invalidated. */
import type { KindName } from "../../api/kinds.ts";
import { createLookup, type Lookup, type World } from "../../world.ts";
import { createPermits, type Permits, type Referent, type Referrer } from "../reference-grants.ts";

/** The queries of the World that a remembered computation may make: single objects by name, and permissions. */
export type View = { readonly lookup: Lookup; readonly permits: Permits };

/**
 * A lookup as data, which can be repeated on a later World. `of` is the kind of the objects that determine the
 * result.
 */
export type WorldQuery =
  | { readonly of: KindName; readonly namespace: string; readonly name: string }
  | { readonly of: "ReferenceGrant"; readonly from: Referrer; readonly to: Referent };

/** The result of a query: a stored object, undefined, or a boolean. Equal results are identical. */
export const resultIn = (world: World, query: WorldQuery): unknown => repeatQuery(plainView(world), query);

/** Repeats a query on a view. */
export const repeatQuery = (view: View, query: WorldQuery): unknown =>
  "from" in query ? view.permits(query.from, query.to) : view.lookup(query.of, query.namespace, query.name);

const plainView = (world: World): View => ({ lookup: createLookup(world), permits: createPermits(world) });

type OnQuery = (query: WorldQuery, result: unknown) => void;

/** Creates a view of a World that reports every query to `onQuery`. */
export const createView = (world: World, onQuery: OnQuery): View => recordLookups(plainView(world), onQuery);

/** Returns the same view, which also reports every query to `onQuery`. */
export const recordLookups = ({ lookup, permits }: View, onQuery: OnQuery): View => ({
  lookup: (kind, namespace, name) => {
    const found = lookup(kind, namespace, name);
    onQuery({ of: kind, namespace, name }, found);
    return found;
  },
  permits: (from, to) => {
    const permitted = permits(from, to);
    onQuery({ of: "ReferenceGrant", from, to }, permitted);
    return permitted;
  },
});
