/** Plans an HTTPRoute, given the objects that it names. See docs/gateway-api.md. */
import type { HTTPRouteRule } from "../../../api/generated/httproute.ts";
import type { ObjectOf } from "../../../api/kinds.ts";
import { routeFieldIgnored } from "../../diagnostics/gateway.ts";
import type { FilterContext } from "../filters/filter-context.ts";
import { readRetry } from "../filters/retry.ts";
import { readFilters } from "../filters/route-filters.ts";
import { readTimeouts } from "../filters/timeouts.ts";
import { readBackends } from "./backends.ts";
import { httpPathRank, matchesOf, readHttpMatch } from "./matches.ts";
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
export const planHttpRoute = (route: ObjectOf<"HTTPRoute">, context: RouteContext): RoutePlan =>
  planRoute<HTTPRouteRule>(route, route.spec.rules ?? [{}], context, planRule);

function planRule(rule: HTTPRouteRule, context: FilterContext): RulePlan {
  const { place, findings } = context;
  const warnAt = (field: string) => (message: string) =>
    void findings.diagnostics.push(
      routeFieldIgnored({ ...place, field: `${place.field}.${field}` }, message),
    );
  warnOfSessions(rule, context);
  reportNoBackend(rule, context);
  const backends = readBackends(rule.backendRefs, context);
  const filters = readFilters(rule.filters, context);
  const timeouts = readTimeouts(rule.timeouts, warnAt("timeouts"));
  const retry = readRetry(rule.retry, warnAt("retry"));
  const matches: MatchPlan[] = [];
  for (const [index, written] of matchesOf(rule.matches).entries()) {
    const match = readHttpMatch(written, findings.regexBudget);
    if (!match.ok) return { invalid: invalidMatch(`${context.place.field}.matches[${index}]`, match.error) };
    const { path } = match.value;
    const features = {
      ...filters.of(path),
      ...(timeouts && { timeouts }),
      // A `retry` of zero attempts also replaces a RetryPolicy.
      ...(rule.retry && { retry }),
    };
    const hasFeatures = Object.values(features).some((feature) => feature !== undefined);
    matches.push({
      match: match.value,
      pathRank: httpPathRank(path),
      backends: backends.of(path),
      ...(hasFeatures && { features }),
    });
  }
  return assembleRule(matches, filters, backends);
}
