/** Who uses a policy, in a size that no user can change. */
import type { ObjectRef } from "../../api/object.ts";
import { compareText } from "../age.ts";

/** An object that names a policy; `policy` is its key. */
export type Use = { readonly policy: string; readonly user: ObjectRef };

export type PolicyUse = {
  /** All users. */
  readonly count: number;
  /** Those of them in other namespaces, whose names are not shown here. */
  readonly elsewhere: number;
  /** The first of the others, by kind and name. */
  readonly objects: readonly { readonly kind: string; readonly name: string }[];
  /** The first of `objects` and how many more there are, for a column. */
  readonly summary: string;
};

/** A status must not grow with the number of its users. */
const maxObjects = 10;
const maxInSummary = 2;

export const noUse: PolicyUse = { count: 0, elsewhere: 0, objects: [], summary: "" };

/** What the users of one policy come to, in any order. */
export function joinUses(uses: readonly [Use, ...Use[]]): PolicyUse {
  const [{ policy }] = uses;
  const namespace = policy.slice(policy.indexOf(" ") + 1, policy.indexOf("/"));
  const named: ObjectRef[] = [];
  let elsewhere = 0;
  for (const { user } of uses) {
    // Classes are cluster-scoped: their names are no secret of a namespace.
    if (user.namespace !== undefined && user.namespace !== namespace) elsewhere++;
    else insert(named, user);
  }
  const objects = named.map(({ kind, name }) => ({ kind, name }));
  const shown = objects.slice(0, maxInSummary).map(({ kind, name }) => `${kind} ${name}`);
  const more = uses.length - shown.length;
  const rest = shown.length === 0 ? `${more} in other namespaces` : `${more} more`;
  return {
    count: uses.length,
    elsewhere,
    objects,
    summary: [shown.join(", "), more === 0 ? "" : rest].filter((part) => part !== "").join(" and "),
  };
}

/** Keeps the list in order and short: a policy may have ten thousand users. */
function insert(list: ObjectRef[], user: ObjectRef): void {
  const last = list[maxObjects - 1];
  if (last !== undefined && compareRefs(user, last) >= 0) return;
  const at = list.findIndex((one) => compareRefs(user, one) < 0);
  list.splice(at === -1 ? list.length : at, 0, user);
  if (list.length > maxObjects) list.pop();
}

const compareRefs = (a: ObjectRef, b: ObjectRef): number =>
  compareText(a.kind, b.kind) || compareText(a.name, b.name);
