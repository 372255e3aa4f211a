/** What a GRPCRoute contributes, given the objects that it names. See docs/gateway-api.md, "GRPCRoute". */
import type { GRPCRouteRule } from "../../api/generated/grpcroute.ts";
import type { HTTPRouteRuleFilter } from "../../api/generated/httproute.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { refOf } from "../../api/object.ts";
import { describeProblem } from "../diagnostics.ts";
import { anyPath } from "../ingress/path.ts";
import { readBackends } from "./backends.ts";
import { noFindings, type FilterContext } from "./filter-context.ts";
import { readFilters } from "./filters.ts";
import { readHosts } from "./hostnames.ts";
import type { RouteContext } from "./http-route.ts";
import { readGrpcMatch } from "./matches.ts";
import { assembleRoute, breakRule, type MatchPlan, type RoutePlan, type RulePlan } from "./route-plan.ts";

/** Reads all rules of a route; one that is broken costs none of the others. */
export function planGrpcRoute(route: ObjectOf<"GRPCRoute">, context: RouteContext): RoutePlan {
  const findings = noFindings();
  const { kind, metadata } = route;
  const rules = route.spec.rules ?? [{}];
  const plans = rules.map((rule, index) => {
    const place = { object: refOf(route), field: `spec.rules[${index}]` };
    const { namespace } = metadata;
    return [rule, planRule(rule, { ...context, kind, namespace, level: "rule", place, findings })] as const;
  });
  return assembleRoute(route, readHosts(route.spec.hostnames), plans, findings);
}

function planRule(rule: GRPCRouteRule, context: FilterContext): RulePlan {
  // The filters of a GRPCRoute are those of an HTTPRoute, without the ones that change a path.
  const filters = readFilters(rule.filters as readonly HTTPRouteRuleFilter[] | undefined, context);
  const backends = readBackends(rule.backendRefs, context);
  const features = filters.of(anyPath);
  const matches: MatchPlan[] = [];
  for (const written of rule.matches ?? [{}]) {
    const match = readGrpcMatch(written);
    if (!match.ok) return { invalid: describeProblem(match.error) };
    matches.push({ match: match.value, backends: backends.of(anyPath), ...(features && { features }) });
  }
  const { needs } = backends;
  const unresolved = filters.unresolved ?? backends.unresolved;
  const unsupported = filters.unsupported ?? backends.unsupported;
  if (filters.isBroken) return breakRule(matches, { unresolved, unsupported });
  return { matches, needs, unresolved, unsupported };
}
