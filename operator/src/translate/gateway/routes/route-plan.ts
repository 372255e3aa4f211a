/** What a route asks for, independent of its kind and of the listeners that accept it. */
import type { RouteFeatures } from "@svc-gateway/common/features/registry.ts";
import type { HostPattern } from "@svc-gateway/common/ir/keys.ts";
import type { RouteMatch } from "@svc-gateway/common/ir/match.ts";
import type { Resource } from "@svc-gateway/common/ir/resource.ts";
import type { Backend, Route } from "@svc-gateway/common/ir/route.ts";
import type { Problem } from "@svc-gateway/common/values/result.ts";
import type { HTTPRouteParentRef as ParentRef } from "../../../api/generated/httproute.ts";
import type { ObjectOf } from "../../../api/kinds.ts";
import { refOf, type ObjectRef } from "../../../api/object.ts";
import { ageOf, type Age } from "../../age.ts";
import type { EndpointRef } from "../../backends/service-port.ts";
import { closeFeatures } from "../../closures.ts";
import type { Fault } from "../../condition.ts";
import type { KeySetRef } from "../../credentials/remote-key-sets.ts";
import { describeProblem } from "../../diagnostics/define-finding.ts";
import { invalidHost } from "../../diagnostics/routes.ts";
import { describeLeftOut, describeTooLarge } from "../../diagnostics/sizes.ts";
import type { Diagnostic } from "../../finding.ts";
import type { View } from "../../incremental/view.ts";
import type { LeftOutObject } from "../../size/object-size.ts";
import { areTooLarge, maxRoutesBytes } from "../../size/route-size.ts";
import { noFindings, type FilterContext, type FilterFindings } from "../filters/filter-context.ts";
import type { ReadFilters } from "../filters/route-filters.ts";
import { readHosts } from "../hostnames.ts";
import type { HttpRouteKind, RouteKind } from "../kinds.ts";
import type { ReadBackends } from "./backends.ts";
import type { PathLength } from "./precedence.ts";
import { unservedOfRoute } from "./unserved-fields.ts";

/** The inputs of reading a route besides the route. */
export type RouteContext = { readonly view: View; readonly allowExternalName: boolean };

/** The common part of the plans of all kinds of routes. */
export type CommonPlan = {
  readonly object: ObjectOf<RouteKind>;
  readonly ref: ObjectRef;
  readonly kind: RouteKind;
  readonly namespace: string;
  readonly age: Age;
  /** Undefined: every host of the listener. */
  readonly hosts: readonly HostPattern[] | undefined;
  readonly parentRefs: readonly ParentRef[];
  readonly endpointRefs: readonly EndpointRef[];
  /** The references that cannot be followed. */
  readonly unresolved: readonly Fault[];
  /** Rules of which nothing is served, by index, with what is wrong there. */
  readonly dropped: readonly DroppedRule[];
  /** Whether every rule is dropped. */
  readonly isUnusable: boolean;
  readonly diagnostics: readonly Diagnostic[];
  /** Findings that apply at listeners where only the route could authenticate clients. */
  readonly unlessAuthenticated: readonly Diagnostic[];
};

export type DroppedRule = { readonly rule: number; readonly faults: readonly Fault[] };

export type RoutePlan = CommonPlan & {
  /** In the order of rules and matches. */
  readonly routes: readonly PlannedRoute[];
  /** The resources that filters refer to besides endpoint sets. */
  readonly resources: readonly Resource[];
  readonly keySets: readonly KeySetRef[];
  /** Whether its routes come after those of all others on their hosts. */
  readonly isLast?: true;
  readonly isTooLarge?: true;
};

/** A route with what its path match is ranked by. */
export type PlannedRoute = { readonly route: Route; readonly pathLength: PathLength };

/** One match of a rule, with what happens to its requests. */
export type MatchPlan = {
  readonly match: RouteMatch;
  readonly pathLength: PathLength;
  readonly backends: readonly Backend[];
  readonly features?: RouteFeatures | undefined;
};

/** One rule as its kind reads it. */
export type RulePlan =
  | {
      readonly matches: readonly MatchPlan[];
      readonly endpointRefs: readonly EndpointRef[];
      readonly unresolved: readonly Fault[];
      /** The parts of the rule that are not supported. */
      readonly unsupported: readonly Fault[];
    }
  /** Not served at all. */
  | { readonly invalid: Fault };

/** A match that cannot be tested takes its rule away: what it would have let through must not go elsewhere. */
export const invalidMatch = (field: string, why: Problem): Fault => ({
  field,
  reason: "UnsupportedValue",
  message: describeProblem(why),
  consequence: "the rule is not served",
});

/** The answer of a rule with a filter that is missing or not supported (Gateway API, HTTPRouteRule.filters). */
const broken: readonly Backend[] = [{ weight: 1, service: "", protocol: "http1", status: 500 }];

/** The rule with 500 as its answer to every request. */
const breakRule = (
  matches: readonly MatchPlan[],
  why: Pick<RulePlanOf, "unresolved" | "unsupported">,
): RulePlan => ({
  matches: matches.map(({ match, pathLength }) => ({ match, pathLength, backends: broken })),
  endpointRefs: [],
  ...why,
});

type RulePlanOf = Exclude<RulePlan, { readonly invalid: Fault }>;

type RuleName = { readonly name?: string };

/** Puts the rules of a route together. */
function assembleRoute(
  object: ObjectOf<HttpRouteKind>,
  hosts: readonly HostPattern[] | undefined,
  rules: readonly (readonly [RuleName, RulePlan])[],
  findings: FilterFindings,
): RoutePlan {
  const { kind, metadata } = object;
  const { namespace, name } = metadata;
  const source = { kind, name, namespace };
  const routes: PlannedRoute[] = [];
  const endpointRefs: EndpointRef[] = [...findings.endpointRefs];
  const dropped: DroppedRule[] = [];
  const unresolved: Fault[] = [];
  for (const [index, [{ name: ruleName }, plan]] of rules.entries()) {
    if ("invalid" in plan) {
      dropped.push({ rule: index, faults: [plan.invalid] });
      continue;
    }
    if (plan.unsupported.length > 0) dropped.push({ rule: index, faults: plan.unsupported });
    unresolved.push(...plan.unresolved);
    endpointRefs.push(...plan.endpointRefs);
    const id = `${kind.toLowerCase()}/${namespace}/${name}:${ruleName ?? index}`;
    for (const { match, pathLength, backends, features: written } of plan.matches) {
      const features = closeFeatures(object, written);
      routes.push({ route: { backends, ...(features && { features }), id, match, source }, pathLength });
    }
  }
  return {
    ...describeRoute(object),
    hosts,
    routes,
    endpointRefs,
    unresolved,
    dropped,
    isUnusable: rules.length > 0 && dropped.length === rules.length,
    resources: findings.resources,
    keySets: findings.keySets,
    diagnostics: [...unservedOfRoute(object), ...findings.diagnostics],
    unlessAuthenticated: findings.unlessAuthenticated,
  };
}

/** Reads all rules of a route by the reader of its kind; one that is broken costs none of the others. */
export function planRoute<R extends RuleName>(
  route: ObjectOf<HttpRouteKind>,
  rules: readonly R[],
  context: RouteContext,
  planRule: (rule: R, context: FilterContext) => RulePlan,
): RoutePlan {
  const { kind, metadata } = route;
  const findings = noFindings();
  const plans = rules.map((rule, index) => {
    const place = { object: refOf(route), field: `spec.rules[${index}]` };
    const { namespace } = metadata;
    return [rule, planRule(rule, { ...context, kind, namespace, level: "rule", place, findings })] as const;
  });
  return assembleRoute(route, hostsOf(route, findings.diagnostics), plans, findings);
}

/** A rule with all its parts read: 500 for every request when one of its filters is missing or not supported. */
export function assembleRule(
  matches: readonly MatchPlan[],
  filters: ReadFilters,
  backends: ReadBackends,
): RulePlan {
  const unresolved = [...filters.unresolved, ...backends.unresolved];
  const unsupported = [...filters.unsupported, ...backends.unsupported];
  if (filters.isBroken) return breakRule(matches, { unresolved, unsupported });
  return { matches, endpointRefs: backends.endpointRefs, unresolved, unsupported };
}

/**
 * A plan that appears in so many tables, reduced to its matches, which answer 500, where it would fill the snapshot;
 * and without these where they alone would.
 */
export function fitRoute(plan: RoutePlan, copies: number): RoutePlan {
  const isTooLarge = (planned: readonly PlannedRoute[]): boolean =>
    areTooLarge(
      planned.map(({ route }) => route),
      copies,
    );
  if (!isTooLarge(plan.routes)) return plan;
  const refused = answering(plan.routes, broken);
  const message = describeTooLarge(maxRoutesBytes);
  const consequence = "all their requests are answered 500";
  return { ...unserved(plan, isTooLarge(refused) ? [] : refused, message, consequence), isTooLarge: true };
}

/** The same matches with another answer, and nothing else. */
const answering = (planned: readonly PlannedRoute[], backends: readonly Backend[]): readonly PlannedRoute[] =>
  planned.map(({ route: { id, match, source }, pathLength }) => ({
    route: { id, match, source, backends },
    pathLength,
  }));

/** A plan with nothing but these routes, and why. */
function unserved(
  plan: RoutePlan,
  routes: readonly PlannedRoute[],
  message: string,
  consequence: string,
): RoutePlan {
  const fault = { field: "spec.rules", reason: "UnsupportedValue", message, consequence };
  return {
    ...plan,
    routes,
    dropped: (plan.object.spec.rules ?? [{}]).map((_, rule) => ({
      rule,
      // Said once for all of them.
      faults: rule === 0 ? [fault] : [],
    })),
    isUnusable: true,
    endpointRefs: [],
    resources: [],
    keySets: [],
  };
}

/** The answer of a route that is left out of a full snapshot. */
const noRoom: readonly Backend[] = [{ weight: 1, service: "", protocol: "http1", status: 503 }];

/** The rest of a plan where the snapshot would become too large. */
export function leaveOutRoute(plan: RoutePlan, leftOut: LeftOutObject): RoutePlan {
  const { message, consequence } = describeLeftOut(leftOut);
  const at = (routes: readonly PlannedRoute[]): RoutePlan => unserved(plan, routes, message, consequence);
  switch (leftOut.level) {
    case 1:
      return at(closeRoutes(plan));
    case 2:
      return { ...at([hostClosed(plan)]), isLast: true };
    case 3:
      return at([]);
  }
}

/** The matches of a plan with 503 as their answer. */
export const closeRoutes = ({ routes }: RoutePlan): readonly PlannedRoute[] => answering(routes, noRoom);

/** Answers 503 on a host where no other route has something. */
export const hostClosed = ({ kind, ref, namespace }: RoutePlan): PlannedRoute => ({
  route: {
    id: `${kind.toLowerCase()}/${namespace}/${ref.name}:left-out`,
    match: { path: { type: "prefix", value: "/" } },
    source: { kind, name: ref.name, namespace },
    backends: noRoom,
  },
  pathLength: [1, 0],
});

/** The hosts of a route, and findings about names that are none, such as IP addresses. */
export const hostsOf = (
  object: ObjectOf<HttpRouteKind | "TLSRoute">,
  diagnostics: Diagnostic[],
): readonly HostPattern[] | undefined =>
  readHosts(object.spec.hostnames, (index, why) => {
    const place = { object: refOf(object), field: `spec.hostnames[${index}]` };
    diagnostics.push(invalidHost(place, why));
  });

/** The parts of a plan that describe its object, independent of its content. */
export const describeRoute = (
  object: ObjectOf<RouteKind>,
): Pick<CommonPlan, "object" | "ref" | "kind" | "namespace" | "age" | "parentRefs"> => ({
  object,
  ref: refOf(object),
  kind: object.kind,
  namespace: object.metadata.namespace,
  age: ageOf(object),
  parentRefs: object.spec.parentRefs ?? [],
});

/** The common part of the plan of a route whose translation throws: nothing of it is served. */
export const unusable = (object: ObjectOf<RouteKind>): Omit<CommonPlan, "diagnostics"> => ({
  ...describeRoute(object),
  hosts: undefined,
  endpointRefs: [],
  unresolved: [],
  dropped: [],
  isUnusable: true,
  unlessAuthenticated: [],
});

export const unusableRoute = (object: ObjectOf<HttpRouteKind>): Omit<RoutePlan, "diagnostics"> => ({
  ...unusable(object),
  routes: [],
  resources: [],
  keySets: [],
});
