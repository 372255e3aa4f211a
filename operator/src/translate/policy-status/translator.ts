/** The statuses of all policies that other objects refer to. See docs/policy-status.md. */
import { isDeepStrictEqual } from "node:util";
import { listChanges } from "@svc-gateway/common/collections/list-changes.ts";
import { findEntry } from "@svc-gateway/common/ir/sorted-entries.ts";
import { refOf, type KubeObject } from "../../api/object.ts";
import type { World } from "../../world.ts";
import { attempt } from "../attempt.ts";
import type { DesiredCondition } from "../condition.ts";
import type { Diagnostic } from "../finding.ts";
import { changesOf, createGroups, createKeyedList } from "../incremental/groups.ts";
import { memo } from "../incremental/memo.ts";
import { createTracker } from "../incremental/tracker.ts";
import { invalidPolicyCondition } from "../invalid-policies.ts";
import type { TranslateSettings } from "../settings.ts";
import { namespaceFilter } from "../watched-namespaces.ts";
import { conditionsOf } from "./conditions.ts";
import { policyKey, policyKinds, userKinds, type Policy, type User } from "./kinds.ts";
import { problemsOf, type PolicyReadSettings } from "./problems.ts";
import { policiesNamedBy } from "./references.ts";
import { joinUses, noUse, type PolicyUse, type Use } from "./use.ts";

/** The content of a policy's status. The value is the same until the content changes. */
export type PolicyStatus = {
  readonly object: Policy;
  readonly conditions: readonly DesiredCondition[];
  readonly use: PolicyUse;
};

export type PolicyStatusInput = {
  readonly world: World;
  /** The objects that this gateway serves, in lists that keep their identity while they do not change. */
  readonly served: readonly (readonly { readonly object: KubeObject }[] | readonly KubeObject[])[];
  /** Findings about key sets, each of which refers to its JwtAuth. */
  readonly ofKeySets: readonly Diagnostic[];
};

/** The inputs of a status besides its policy. */
type Extra = { readonly use: PolicyUse; readonly fetchProblem: string | undefined };

/** Policies of namespaces that are not served get no status, because the controllers may not write there. */
export function createPolicyStatusTranslator(
  settings: Pick<TranslateSettings, "watchNamespaces"> & PolicyReadSettings,
): (input: PolicyStatusInput) => readonly PolicyStatus[] {
  const isWatched = namespaceFilter(settings.watchNamespaces);
  const watchedOf = memo((list: readonly Policy[]) =>
    list.filter(({ metadata }) => isWatched(metadata.namespace)),
  );
  const users = userKinds.map((kind) =>
    createTracker<User, boolean, readonly Use[]>({
      inputs: (world) => world[kind],
      compute: (user, isServed, view) => (isServed ? usesOf(user, view) : nothing),
    }),
  );
  const policies = policyKinds.map((kind) =>
    createTracker<Policy, Extra, PolicyStatus>({
      inputs: (world) => watchedOf(world[kind]),
      compute: (object, { use, fetchProblem }, view) => {
        const invalid = invalidPolicyCondition(object);
        if (invalid !== undefined) return { object, conditions: [invalid], use };
        const { unresolved, ...problems } = problemsOf(object, view, settings);
        const notFetched = fetchProblem && { reason: "KeySetNotFetched", message: fetchProblem };
        const conditions = conditionsOf(kind, {
          ...problems,
          unresolved: unresolved ?? (notFetched || undefined),
        });
        return { object, conditions, use };
      },
    }),
  );
  const uses = createGroups(({ policy }: Use) => policy, joinUses, isDeepStrictEqual);
  const statuses = createKeyedList(({ object }: PolicyStatus) => keyOf(object));
  const isServedOf = createServedCheck();
  const extraOf = createExtras();
  return ({ world, served, ofKeySets }) => {
    const isServed = isServedOf(served);
    for (const track of users) uses.edit(changesOf(track(world, isServed), (one) => one));
    const extras = extraOf(uses.entries, ofKeySets);
    for (const track of policies) statuses.edit(track(world, extras));
    return statuses.entries.values;
  };
}

const nothing: readonly Use[] = [];

const keyOf = ({ kind, metadata }: Policy): string => policyKey(kind, metadata.namespace, metadata.name);

function usesOf(user: User, view: Parameters<typeof policiesNamedBy>[1]): readonly Use[] {
  const { policies } = attempt(user, () => ({ policies: policiesNamedBy(user, view), diagnostics: [] }), {
    policies: [],
  });
  if (policies.length === 0) return nothing;
  const ref = refOf(user);
  return policies.map((policy) => ({ policy, user: ref }));
}

/** The kinds of users that always count, because other objects use them. */
const alwaysServed: ReadonlySet<string> = new Set(["RouteOptions", "SvcIngressClassParameters"]);

type Served = PolicyStatusInput["served"];

/** Returns the same function while the lists are the same. The cost of a changed list depends on its changes. */
function createServedCheck(): (served: Served) => (user: User) => boolean {
  const members = new Set<KubeObject>();
  let last: Served = [];
  let check: ((user: User) => boolean) | undefined;
  return (served) => {
    for (const [index, list] of served.entries()) {
      const before = last[index] ?? [];
      if (list === before) continue;
      const { removed, added } = listChanges<Served[number][number]>(before, list);
      for (const one of removed) members.delete(objectOf(one));
      for (const one of added) members.add(objectOf(one));
      check = undefined;
    }
    last = served;
    return (check ??= (user) => alwaysServed.has(user.kind) || members.has(user));
  };
}

const objectOf = (one: Served[number][number]): KubeObject => ("object" in one ? one.object : one);

/** Returns the same function, and the same extra for a policy, until their content changes. */
function createExtras(): (
  uses: Parameters<typeof findEntry<PolicyUse, string>>[0],
  ofKeySets: readonly Diagnostic[],
) => (policy: Policy) => Extra {
  const withoutProblem = memo((use: PolicyUse): Extra => ({ use, fetchProblem: undefined }));
  const withProblem = memo((use: PolicyUse) => {
    const byText = new Map<string, Extra>();
    return (fetchProblem: string): Extra => {
      const known = byText.get(fetchProblem) ?? { use, fetchProblem };
      byText.clear();
      byText.set(fetchProblem, known);
      return known;
    };
  });
  let last:
    | { readonly uses: unknown; readonly form: string; readonly extraOf: (policy: Policy) => Extra }
    | undefined;
  return (uses, ofKeySets) => {
    const problems = new Map(
      ofKeySets
        .filter(({ reason }) => reason === "KeySetNotFetched" || reason === "ProtectionUnavailable")
        .map(({ object, message }) => [policyKey("JwtAuth", object.namespace ?? "", object.name), message]),
    );
    const form = problems.size === 0 ? "" : JSON.stringify([...problems]);
    if (last?.uses !== uses || last.form !== form) {
      const extraOf = (policy: Policy): Extra => {
        const key = keyOf(policy);
        const use = findEntry(uses, key) ?? noUse;
        const problem = problems.get(key);
        return problem === undefined ? withoutProblem(use) : withProblem(use)(problem);
      };
      last = { uses, form, extraOf };
    }
    return last.extraOf;
  };
}
