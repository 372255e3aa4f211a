import type { PathLevel } from "@svc-gateway/common/features/path-normalize.ts";
import type { HostPattern, RouteGroup } from "@svc-gateway/common/ir/keys.ts";
import type { HostRoutes, Route } from "@svc-gateway/common/ir/route.ts";
import { decodedPath } from "@svc-gateway/common/values/path-segments.ts";
import type { CompiledRoute } from "../exchange/compiled-route.ts";
import type { RouteQuery } from "../exchange/route-query.ts";
import type { ListenerFilters } from "../filters/listener-filters.ts";
import { type DemandedRules, demandedRules } from "../tls/client-validation.ts";
import { compileConditions } from "./condition.ts";
import { isOverspent, startLookup } from "./regex-budget.ts";
import { createLookup, inPrecedence, type RankedCandidate } from "./host-lookup.ts";
import type { Candidate, HostLookup } from "./lookup-in-turn.ts";
import { compilePath } from "./path-rule.ts";

/**
 * The compiled routes of one host. Immutable; shared by snapshots that do not change it, and by ports with equal
 * routes.
 */
export type HostTable = {
  readonly group: RouteGroup;
  readonly host: HostPattern;
  /** See HostRoutes in common/src/ir/route.ts. */
  readonly listener: string;
  readonly inherit: boolean;
  readonly pathLevel: PathLevel;
  /** Whether paths are compared in decoded form (decoded-path.ts). */
  readonly isDecoded: boolean;
  /** The filters that run before the lookup of a route, if this is the most specific host of a request. */
  readonly filters: ListenerFilters | undefined;
  /** The client certificate rules for connections of requests, if this is their most specific host. */
  readonly clients: DemandedRules | undefined;
  /** The candidates in the order in which they are tried. */
  readonly candidates: readonly Candidate[];
  /** Returns the route of a request; undefined if there is none or the lookup exceeded its budget (regex-budget.ts). */
  match(query: RouteQuery): CompiledRoute | undefined;
};

/** The reason why a route is omitted. */
export type RouteProblem = { readonly routeId: string; readonly message: string };

/**
 * Compiles the routes of a host. A route with an invalid regular expression is omitted and reported; the others are
 * served. `prepare` compiles the processing of requests that match a route.
 */
export function compileHostTable(
  owner: Pick<HostTable, "group" | "host">,
  resource: HostRoutes,
  prepare: (route: Route) => CompiledRoute,
  filters?: ListenerFilters,
): { readonly table: HostTable; readonly problems: readonly RouteProblem[] } {
  const { pathLevel = "base" } = resource;
  const form = { level: pathLevel, isDecoded: resource.matchPaths === "decoded" };
  const candidates: RankedCandidate[] = [];
  const problems: RouteProblem[] = [];
  for (const [place, route] of resource.routes.entries()) {
    const path = compilePath(route.match.path, form);
    const conditions = compileConditions(route.match);
    if (path.ok && conditions.ok) {
      const candidate = { path: path.value, conditions: conditions.value, route: prepare(route), place };
      candidates.push({ candidate, tier: route.tier ?? 0, fallback: route.fallback === true });
      continue;
    }
    for (const part of [path, conditions]) {
      if (!part.ok) problems.push({ routeId: route.id, message: part.error.message });
    }
  }
  return {
    table: new CompiledHost(owner, { ...resource, pathLevel }, inPrecedence(candidates), filters),
    problems,
  };
}

/** A class, because there can be ten thousand of them. */
class CompiledHost implements HostTable {
  readonly group: RouteGroup;
  readonly host: HostPattern;
  readonly listener: string;
  readonly inherit: boolean;
  readonly pathLevel: PathLevel;
  readonly isDecoded: boolean;
  readonly filters: ListenerFilters | undefined;
  readonly clients: DemandedRules | undefined;
  readonly candidates: readonly Candidate[];
  private readonly lookup: HostLookup;

  constructor(
    { group, host }: Pick<HostTable, "group" | "host">,
    {
      listener,
      inherit,
      pathLevel,
      matchPaths,
      clients,
    }: Omit<HostRoutes, "routes"> & Pick<HostTable, "pathLevel">,
    ranked: readonly RankedCandidate[],
    filters: ListenerFilters | undefined,
  ) {
    this.group = group;
    this.host = host;
    this.listener = listener;
    this.inherit = inherit;
    this.pathLevel = pathLevel;
    this.isDecoded = matchPaths === "decoded";
    this.filters = filters;
    this.clients = clients && demandedRules(clients);
    this.candidates = ranked.map(({ candidate }) => candidate);
    this.lookup = createLookup(ranked, this.candidates);
  }

  match(query: RouteQuery): CompiledRoute | undefined {
    startLookup();
    const route = this.lookup.find(this.isDecoded ? withDecodedPath(query) : query);
    // A regex that was not tested could be that of a route which protects the path.
    return isOverspent() ? undefined : route;
  }
}

/** Returns a request with its path in decoded form; the same object if the path does not change. */
export function withDecodedPath(query: RouteQuery): RouteQuery {
  const path = decodedPath(query.path);
  if (path === query.path) return query;
  const { host, query: parameters, method, headers, authority } = query;
  return { host, path, query: parameters, method, headers, authority };
}
