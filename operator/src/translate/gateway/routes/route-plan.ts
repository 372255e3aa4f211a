/** The plan of a route, independent of its kind and of the listeners that accept it. */
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
import type { PathRank } from "./precedence.ts";
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
  /** The host names of the route; undefined for every host of the listener. */
  readonly hosts: readonly HostPattern[] | undefined;
  readonly parentRefs: readonly ParentRef[];
  readonly endpointRefs: readonly EndpointRef[];
  /** The references that cannot be resolved. */
  readonly unresolved: readonly Fault[];
  /** Invalid and unsupported rules by index, with their faults. */
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
  /** Whether its routes are ordered after all others on their hosts. */
  readonly isLast?: true;
  readonly isTooLarge?: true;
};

/** A route with the rank of its path match. */
export type PlannedRoute = { readonly route: Route; readonly pathRank: PathRank };

/** One match of a rule, with the backends and features for its requests. */
export type MatchPlan = {
  readonly match: RouteMatch;
  readonly pathRank: PathRank;
  readonly backends: readonly Backend[];
  readonly features?: RouteFeatures | undefined;
};

/** One rule, as read by the reader of its kind. */
export type RulePlan =
  | {
      readonly matches: readonly MatchPlan[];
      readonly endpointRefs: readonly EndpointRef[];
      readonly unresolved: readonly Fault[];
      /** The parts of the rule that are not supported. */
      readonly unsupported: readonly Fault[];
    }
  /** The rule is not served at all. */
  | { readonly invalid: Fault };

/**
 * The fault of a match that cannot be tested. The whole rule is dropped, so that it never serves only a part of
 * its requests.
 */
export const invalidMatch = (field: string, why: Problem): Fault => ({
  field,
  reason: "UnsupportedValue",
  message: describeProblem(why),
  consequence: "the rule is not served",
});

/** The answer of a rule with a filter that is missing or not supported (Gateway API, HTTPRouteRule.filters). */
const broken: readonly Backend[] = [
  { weight: 1, service: "", protocol: "http1", status: 500, fault: "filter" },
];

/** The answer of a route that is too large. */
const invalid: readonly Backend[] = [{ weight: 1, service: "", protocol: "http1", status: 500 }];

/** The rule with 500 as its answer to every request. */
const breakRule = (
  matches: readonly MatchPlan[],
  why: Pick<RulePlanOf, "unresolved" | "unsupported">,
): RulePlan => ({
  matches: matches.map(({ match, pathRank }) => ({ match, pathRank, backends: broken })),
  endpointRefs: [],
  ...why,
});

type RulePlanOf = Exclude<RulePlan, { readonly invalid: Fault }>;

type RuleName = { readonly name?: string };

/** Assembles the plan of a route from those of its rules. */
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
    for (const { match, pathRank, backends, features: written } of plan.matches) {
      const features = closeFeatures(object, written);
      routes.push({ route: { backends, ...(features && { features }), id, match, source }, pathRank });
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

/** Reads all rules of a route with the reader of its kind. A broken rule does not affect the others. */
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

/** Assembles a rule from its parts. It answers every request 500 if one of its filters is missing or not supported. */
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
 * Reduces a plan that would be too large in `copies` tables to its matches, which then answer 500. If the
 * matches alone are too large, nothing remains.
 */
export function fitRoute(plan: RoutePlan, copies: number): RoutePlan {
  const isTooLarge = (planned: readonly PlannedRoute[]): boolean =>
    areTooLarge(
      planned.map(({ route }) => route),
      copies,
    );
  if (!isTooLarge(plan.routes)) return plan;
  const refused = answering(plan.routes, invalid);
  const message = describeTooLarge(maxRoutesBytes);
  const consequence = "all their requests are answered 500";
  return { ...unserved(plan, isTooLarge(refused) ? [] : refused, message, consequence), isTooLarge: true };
}

/** The same matches with other backends and without features. */
const answering = (planned: readonly PlannedRoute[], backends: readonly Backend[]): readonly PlannedRoute[] =>
  planned.map(({ route: { id, match, source }, pathRank }) => ({
    route: { id, match, source, backends },
    pathRank,
  }));

/** The plan reduced to these routes, with the reason. */
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
      // The fault is reported once, with the first rule.
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

/** The remainder of a plan whose route is left out of a snapshot. */
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

/** The matches of a plan, which answer 503. */
export const closeRoutes = ({ routes }: RoutePlan): readonly PlannedRoute[] => answering(routes, noRoom);

/** A route that answers 503 to requests for a host that no other route matches. */
export const hostClosed = ({ kind, ref, namespace }: RoutePlan): PlannedRoute => ({
  route: {
    id: `${kind.toLowerCase()}/${namespace}/${ref.name}:left-out`,
    match: { path: { type: "prefix", value: "/" } },
    source: { kind, name: ref.name, namespace },
    backends: noRoom,
  },
  pathRank: { type: "prefix", length: 1, method: 0 },
});

/** The hosts of a route. Adds findings about invalid names, such as IP addresses. */
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
