/** What an HTTPRoute contributes, given the objects that it names. See docs/gateway-api.md, "HTTPRoute". */
import type { HTTPRouteRule } from "../../api/generated/httproute.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { refOf } from "../../api/object.ts";
import { describeProblem, routeFieldIgnored } from "../diagnostics.ts";
import type { Diagnostic } from "../translation.ts";
import type { View } from "../view.ts";
import { readBackends } from "./backends.ts";
import { readFilters } from "./filters.ts";
import { readHosts } from "./hostnames.ts";
import { readHttpMatch } from "./matches.ts";
import { assembleRoute, breakRule, type MatchPlan, type RoutePlan, type RulePlan } from "./route-plan.ts";
import { readRetry } from "./retry.ts";
import { readTimeouts } from "./timeouts.ts";

export type RouteContext = { readonly view: View; readonly allowExternalName: boolean };

type Warn = (field: string, message: string) => void;

/** Reads all rules of a route; one that is broken costs none of the others. */
export function planHttpRoute(route: ObjectOf<"HTTPRoute">, context: RouteContext): RoutePlan {
  const diagnostics: Diagnostic[] = [];
  const warn: Warn = (field, message) => {
    diagnostics.push(routeFieldIgnored({ object: refOf(route), field }, message));
  };
  const rules = route.spec.rules ?? [{}];
  const plans = rules.map(
    (rule, index) => [rule, planRule(rule, `spec.rules[${index}]`, route, context, warn)] as const,
  );
  return assembleRoute(route, readHosts(route.spec.hostnames), plans, diagnostics);
}

function planRule(
  rule: HTTPRouteRule,
  field: string,
  { kind, metadata }: ObjectOf<"HTTPRoute">,
  { view, allowExternalName }: RouteContext,
  warn: Warn,
): RulePlan {
  const from = { kind, namespace: metadata.namespace };
  const backends = readBackends(rule.backendRefs, from, { view, allowExternalName, isGrpc: false });
  const timeouts = readTimeouts(rule.timeouts, (message) => warn(`${field}.timeouts`, message));
  const retry = readRetry(rule.retry, (message) => warn(`${field}.retry`, message));
  const matches: MatchPlan[] = [];
  let { unsupported } = backends;
  for (const written of rule.matches ?? [{}]) {
    const match = readHttpMatch(written);
    if (!match.ok) return { invalid: describeProblem(match.error) };
    const { path } = match.value;
    const filters = readFilters(rule.filters, path);
    unsupported ??= filters.unsupported;
    for (const message of filters.warnings) warn(`${field}.filters`, message);
    const features = { ...filters.features, ...(timeouts && { timeouts }), ...(retry && { retry }) };
    const hasFeatures = Object.keys(features).length > 0;
    matches.push({ match: match.value, backends: backends.of(path), ...(hasFeatures && { features }) });
  }
  const { needs, unresolved } = backends;
  if (unsupported !== undefined) return breakRule(matches, { unresolved, unsupported });
  return { matches, needs, unresolved, unsupported };
}
