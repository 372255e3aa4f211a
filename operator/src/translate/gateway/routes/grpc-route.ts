/** Plans a GRPCRoute, given the objects that it names. See docs/gateway-api.md. */
import type { GRPCRouteRule } from "../../../api/generated/grpcroute.ts";
import type { HTTPRouteRuleFilter } from "../../../api/generated/httproute.ts";
import type { ObjectOf } from "../../../api/kinds.ts";
import { anyPath } from "../../ingress/path.ts";
import type { FilterContext } from "../filters/filter-context.ts";
import { readFilters } from "../filters/route-filters.ts";
import { readBackends } from "./backends.ts";
import { grpcPathRank, matchesOf, readGrpcMatch } from "./matches.ts";
import { reportNoBackend } from "./no-backend.ts";
import {
  assembleRule,
  invalidMatch,
  planRoute,
  type MatchPlan,
  type RouteContext,
  type RoutePlan,
  type RulePlan,
} from "./route-plan.ts";
import { warnOfSessions } from "./unserved-fields.ts";

/** Reads all rules of a route. A broken rule does not affect the others. */
export const planGrpcRoute = (route: ObjectOf<"GRPCRoute">, context: RouteContext): RoutePlan =>
  planRoute<GRPCRouteRule>(route, route.spec.rules ?? [{}], context, planRule);

function planRule(rule: GRPCRouteRule, context: FilterContext): RulePlan {
  warnOfSessions(rule, context);
  reportNoBackend(rule, context);
  // The filters of a GRPCRoute are those of an HTTPRoute, without the ones that change a path.
  const filters = readFilters(rule.filters as readonly HTTPRouteRuleFilter[] | undefined, context);
  const backends = readBackends(rule.backendRefs, context);
  const features = filters.of(anyPath);
  const matches: MatchPlan[] = [];
  for (const [index, written] of matchesOf(rule.matches).entries()) {
    const match = readGrpcMatch(written, context.findings.regexBudget);
    if (!match.ok) return { invalid: invalidMatch(`${context.place.field}.matches[${index}]`, match.error) };
    matches.push({
      match: match.value,
      pathRank: grpcPathRank(written, match.value.path),
      backends: backends.of(anyPath),
      ...(features && { features }),
    });
  }
  return assembleRule(matches, filters, backends);
}
