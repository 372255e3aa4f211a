import type { PathLevel } from "@svc-gateway/common/features/path-normalize.ts";
import type { HostPattern, RouteGroup } from "@svc-gateway/common/ir/keys.ts";
import type { HostRoutes, Route } from "@svc-gateway/common/ir/route.ts";
import type { ListenerFilters } from "../filters/listener-filters.ts";
import type { CompiledRoute } from "./compiled-route.ts";
import { compileConditions, firstFailure, type Condition } from "./condition.ts";
import { isOverspent, startLookup } from "./expression-budget.ts";
import { compilePath, pathMatches, type PathRule } from "./path-rule.ts";
import type { RouteQuery } from "./port-table.ts";

/** A route with everything that a request must fulfil to take it. */
export type Candidate = {
  readonly path: PathRule;
  readonly conditions: readonly Condition[];
  readonly route: CompiledRoute;
};

/** The compiled routes of one host of one port; immutable, and shared by snapshots that do not change it. */
export type HostTable = {
  readonly group: RouteGroup;
  readonly host: HostPattern;
  /** See HostRoutes in common/src/ir/route.ts. */
  readonly listener: string;
  readonly inherit: boolean;
  readonly pathLevel: PathLevel;
  /** What runs before a route is looked for, where this is the most specific host of a request. */
  readonly filters: ListenerFilters | undefined;
  /** In the order of the resource. */
  readonly candidates: readonly Candidate[];
  /** Undefined also for a lookup that is overspent (expression-budget.ts). */
  match(query: RouteQuery): CompiledRoute | undefined;
};

/** A route that is left out, with the reason. */
export type RouteProblem = { readonly routeId: string; readonly message: string };

/**
 * Compiles the routes of a host. A route whose regular expression is invalid is left out and reported; its
 * neighbours serve. `prepare` builds what a route does once it has matched.
 */
export function compileHostTable(
  owner: Pick<HostTable, "group" | "host">,
  resource: HostRoutes,
  prepare: (route: Route) => CompiledRoute,
  filters?: ListenerFilters,
): { readonly table: HostTable; readonly problems: readonly RouteProblem[] } {
  const { listener, inherit, pathLevel = "base" } = resource;
  const candidates: Candidate[] = [];
  const problems: RouteProblem[] = [];
  for (const route of resource.routes) {
    const path = compilePath(route.match.path, pathLevel);
    const conditions = compileConditions(route.match);
    if (path.ok && conditions.ok) {
      candidates.push({ path: path.value, conditions: conditions.value, route: prepare(route) });
      continue;
    }
    for (const part of [path, conditions]) {
      if (!part.ok) problems.push({ routeId: route.id, message: part.error.message });
    }
  }
  const tiers = [...Map.groupBy(candidates, tierOf)].sort(([a], [b]) => a - b);
  const match = matchFirst(tiers.map(([, ofTier]) => createMatcher(ofTier)));
  return { table: { ...owner, listener, inherit, pathLevel, filters, candidates, match }, problems };
}

/** See `tier` in common/src/ir/route.ts. */
export const tierOf = ({ route }: Candidate): number => route.route.tier ?? 0;

/** Asks one after another. */
function matchFirst(matchers: readonly HostTable["match"][]): HostTable["match"] {
  const [only, ...more] = matchers;
  if (only === undefined) return () => undefined;
  if (more.length === 0) return only;
  return (query) => {
    for (const match of matchers) {
      const route = match(query);
      if (route !== undefined) return route;
    }
    return undefined;
  };
}

const SLASH = 0x2f;

/**
 * Finds the route of a request among those of a tier: the exact path, then prefixes from the longest to the shortest, then expressions in
 * order, then default backends; within one path the first candidate whose conditions hold. Exact paths and prefixes
 * are found by their text, so that a thousand routes cost what ten do.
 */
function createMatcher(candidates: readonly Candidate[]): HostTable["match"] {
  const exacts = new Map<string, Candidate[]>();
  const prefixes = new Map<string, Candidate[]>();
  const expressions: Candidate[] = [];
  const fallbacks: Candidate[] = [];
  for (const candidate of candidates) {
    const { path, route } = candidate;
    if (route.route.fallback === true) fallbacks.push(candidate);
    else if (path.type === "exact") add(exacts, path.text, candidate);
    else if (path.type === "prefix") add(prefixes, path.text, candidate);
    else expressions.push(candidate);
  }
  const lengths = prefixLengths(prefixes.keys());
  const find: HostTable["match"] = (query) => {
    const { path } = query;
    const exact = exacts.get(path);
    if (exact !== undefined) {
      const route = firstMatch(exact, query);
      if (route !== undefined) return route;
    }
    for (let end = Math.min(path.length, lengths.length - 1); end >= 0; end--) {
      if (lengths[end] !== 1) continue;
      if (end < path.length && path.charCodeAt(end) !== SLASH) continue;
      const slot = prefixes.get(end === path.length ? path : path.slice(0, end));
      const route = slot === undefined ? undefined : firstMatch(slot, query);
      if (route !== undefined) return route;
    }
    return firstFit(expressions, query) ?? firstFit(fallbacks, query);
  };
  return (query) => {
    startLookup();
    const route = find(query);
    // An expression that was not tested could have been the one that protects the path.
    return isOverspent() ? undefined : route;
  };
}

function add(slots: Map<string, Candidate[]>, text: string, candidate: Candidate): void {
  const slot = slots.get(text);
  if (slot === undefined) slots.set(text, [candidate]);
  else slot.push(candidate);
}

/** 1 at each length that a prefix has: a long request path is then cut only where a prefix may end. */
function prefixLengths(prefixes: Iterable<string>): Uint8Array {
  const found = [...prefixes].map((prefix) => prefix.length);
  const lengths = new Uint8Array(found.reduce((longest, length) => Math.max(longest, length + 1), 0));
  for (const length of found) lengths[length] = 1;
  return lengths;
}

/** The first of the candidates that cannot be found by their text: each is tried in turn. */
function firstFit(candidates: readonly Candidate[], query: RouteQuery): CompiledRoute | undefined {
  for (const { path, conditions, route } of candidates) {
    if (pathMatches(path, query.path) && firstFailure(conditions, query) === undefined) return route;
  }
  return undefined;
}

function firstMatch(slot: readonly Candidate[], query: RouteQuery): CompiledRoute | undefined {
  for (const { conditions, route } of slot) {
    if (firstFailure(conditions, query) === undefined) return route;
  }
  return undefined;
}
