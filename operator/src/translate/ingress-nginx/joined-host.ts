/**
 * Joins several hosts with the same further name, which serves the routes of all of them. See
 * docs/ingress-nginx.md, "Further names".
 */
import type { HostPattern } from "@svc-gateway/common/ir/keys.ts";
import type { HostRoutes, Route } from "@svc-gateway/common/ir/route.ts";
import { buildHostTable, type HostTable } from "../ingress/host-table.ts";

/** The routes of a single host with the rules of all given hosts. Of equal paths, the first one counts. */
export function joinHosts(first: HostTable, others: readonly HostTable[], name: HostPattern): HostRoutes {
  if (others.length === 0) return first.served.value;
  const tables = [first, ...others];
  const finished = new Map<string, Route>();
  for (const { served } of tables) {
    for (const route of served.value.routes) if (!finished.has(route.id)) finished.set(route.id, route);
  }
  const claims = tables.flatMap((table) => table.claims.map((claim) => ({ ...claim, host: name })));
  const lastResort = first.served.value.routes.find(({ fallback }) => fallback === true);
  const { value } = buildHostTable(claims, { ports: [], lastResort }).served;
  return {
    ...value,
    routes: value.routes.flatMap((route) => {
      const known = finished.get(route.id);
      return known === undefined ? [] : [inPlaceOf(route, known)];
    }),
  };
}

/** Returns the route as completed for its own host, in its position among those of the other hosts. */
function inPlaceOf(route: Route, finished: Route): Route {
  // A regular expression that cannot be matched is closed and has no features, even if the path was literal on
  // its own host.
  if (route.features === undefined) return route;
  const { tier: _, ...rest } = finished;
  return { ...rest, match: route.match, ...(route.tier !== undefined && { tier: route.tier }) };
}
