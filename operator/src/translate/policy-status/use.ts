/** The users of a policy, in a size that is independent of their number. */
import type { ObjectRef } from "../../api/object.ts";
import { compareText } from "../age.ts";

/** An object that refers to a policy. `policy` is the key of the policy. */
export type Use = { readonly policy: string; readonly user: ObjectRef };

export type PolicyUse = {
  /** The number of all users. */
  readonly count: number;
  /** The number of users in other namespaces, whose names must not be disclosed here. */
  readonly elsewhere: number;
  /** The first of the other users, by kind and name. */
  readonly objects: readonly { readonly kind: string; readonly name: string }[];
  /** The first of `objects` and the number of all others, for a column. */
  readonly summary: string;
};

/** The limits of a status, whose size must not depend on the number of users. */
const maxObjects = 10;
const maxInSummary = 2;

export const noUse: PolicyUse = { count: 0, elsewhere: 0, objects: [], summary: "" };

/** Summarises the users of one policy, which can be in any order. */
export function joinUses(uses: readonly [Use, ...Use[]]): PolicyUse {
  const [{ policy }] = uses;
  const namespace = policy.slice(policy.indexOf(" ") + 1, policy.indexOf("/"));
  const named: ObjectRef[] = [];
  let elsewhere = 0;
  for (const { user } of uses) {
    // The names of classes, which are cluster-scoped, are not confidential to a namespace.
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

/** Inserts a user and keeps the list sorted and short: a policy can have ten thousand users. */
function insert(list: ObjectRef[], user: ObjectRef): void {
  const last = list[maxObjects - 1];
  if (last !== undefined && compareRefs(user, last) >= 0) return;
  const at = list.findIndex((one) => compareRefs(user, one) < 0);
  list.splice(at === -1 ? list.length : at, 0, user);
  if (list.length > maxObjects) list.pop();
}

const compareRefs = (a: ObjectRef, b: ObjectRef): number =>
  compareText(a.kind, b.kind) || compareText(a.name, b.name);
