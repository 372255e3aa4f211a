/** What a GRPCRoute contributes, given the objects that it names. See docs/gateway-api.md, "GRPCRoute". */
import type { GRPCRouteRule } from "../../api/generated/grpcroute.ts";
import type { HTTPRouteRuleFilter } from "../../api/generated/httproute.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { refOf } from "../../api/object.ts";
import { describeProblem, routeFieldIgnored } from "../diagnostics.ts";
import { anyPath } from "../ingress/path.ts";
import type { Diagnostic } from "../translation.ts";
import { readBackends } from "./backends.ts";
import { readFilters } from "./filters.ts";
import { readHosts } from "./hostnames.ts";
import type { RouteContext } from "./http-route.ts";
import { readGrpcMatch } from "./matches.ts";
import { assembleRoute, breakRule, type MatchPlan, type RoutePlan, type RulePlan } from "./route-plan.ts";

/** Reads all rules of a route; one that is broken costs none of the others. */
export function planGrpcRoute(route: ObjectOf<"GRPCRoute">, context: RouteContext): RoutePlan {
  const diagnostics: Diagnostic[] = [];
  const rules = route.spec.rules ?? [{}];
  const plans = rules.map((rule, index) => {
    const warn = (message: string): void => {
      const place = { object: refOf(route), field: `spec.rules[${index}].filters` };
      diagnostics.push(routeFieldIgnored(place, message));
    };
    return [rule, planRule(rule, route, context, warn)] as const;
  });
  return assembleRoute(route, readHosts(route.spec.hostnames), plans, diagnostics);
}

function planRule(
  rule: GRPCRouteRule,
  { kind, metadata }: ObjectOf<"GRPCRoute">,
  { view, allowExternalName }: RouteContext,
  warn: (message: string) => void,
): RulePlan {
  // The filters of a GRPCRoute are those of an HTTPRoute, without the ones that change a path.
  const filters = readFilters(rule.filters as readonly HTTPRouteRuleFilter[] | undefined, anyPath);
  for (const message of filters.warnings) warn(message);
  const from = { kind, namespace: metadata.namespace };
  const backends = readBackends(rule.backendRefs, from, { view, allowExternalName, isGrpc: true });
  const { features } = filters;
  const matches: MatchPlan[] = [];
  for (const written of rule.matches ?? [{}]) {
    const match = readGrpcMatch(written);
    if (!match.ok) return { invalid: describeProblem(match.error) };
    matches.push({ match: match.value, backends: backends.of(anyPath), ...(features && { features }) });
  }
  const { needs, unresolved } = backends;
  const unsupported = filters.unsupported ?? backends.unsupported;
  if (unsupported !== undefined) return breakRule(matches, { unresolved, unsupported });
  return { matches, needs, unresolved, unsupported };
}
