/** What an HTTPRoute contributes, given the objects that it names. See docs/gateway-api.md, "HTTPRoute". */
import type { HTTPRouteRule } from "../../api/generated/httproute.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { refOf } from "../../api/object.ts";
import { describeProblem, routeFieldIgnored } from "../diagnostics.ts";
import type { View } from "../view.ts";
import { readBackends } from "./backends.ts";
import { noFindings, type FilterContext } from "./filter-context.ts";
import { readFilters } from "./filters.ts";
import { readHosts } from "./hostnames.ts";
import { readHttpMatch } from "./matches.ts";
import { assembleRoute, breakRule, type MatchPlan, type RoutePlan, type RulePlan } from "./route-plan.ts";
import { readRetry } from "./retry.ts";
import { readTimeouts } from "./timeouts.ts";

export type RouteContext = { readonly view: View; readonly allowExternalName: boolean };

/** Reads all rules of a route; one that is broken costs none of the others. */
export function planHttpRoute(route: ObjectOf<"HTTPRoute">, context: RouteContext): RoutePlan {
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

function planRule(rule: HTTPRouteRule, context: FilterContext): RulePlan {
  const { place, findings } = context;
  const warnAt = (field: string) => (message: string) =>
    void findings.diagnostics.push(
      routeFieldIgnored({ ...place, field: `${place.field}.${field}` }, message),
    );
  const backends = readBackends(rule.backendRefs, context);
  const filters = readFilters(rule.filters, context);
  const timeouts = readTimeouts(rule.timeouts, warnAt("timeouts"));
  const retry = readRetry(rule.retry, warnAt("retry"));
  const matches: MatchPlan[] = [];
  for (const written of rule.matches ?? [{}]) {
    const match = readHttpMatch(written);
    if (!match.ok) return { invalid: describeProblem(match.error) };
    const { path } = match.value;
    const features = { ...filters.of(path), ...(timeouts && { timeouts }), ...(retry && { retry }) };
    const hasFeatures = Object.keys(features).length > 0;
    matches.push({ match: match.value, backends: backends.of(path), ...(hasFeatures && { features }) });
  }
  const { needs } = backends;
  const unresolved = filters.unresolved ?? backends.unresolved;
  const unsupported = filters.unsupported ?? backends.unsupported;
  if (filters.isBroken) return breakRule(matches, { unresolved, unsupported });
  return { matches, needs, unresolved, unsupported };
}
