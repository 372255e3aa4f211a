/** A further name of several hosts serves what all of them serve. See docs/ingress-nginx.md, "Further names". */
import { isDeepStrictEqual } from "node:util";
import type { ClientRules } from "@svc-gateway/common/ir/client-certificate.ts";
import type { HostPattern } from "@svc-gateway/common/ir/keys.ts";
import type { HostRoutes, Route } from "@svc-gateway/common/ir/route.ts";
import { buildHostTable, type HostTable } from "../ingress/host-table.ts";

/** The routes of a single host with the rules of all given hosts. Of equal paths, the first one counts. */
export function joinHosts(first: HostTable, others: readonly HostTable[], name: HostPattern): HostRoutes {
  if (others.length === 0) return first.served.value;
  const tables = [first, ...others];
  const rules = tables.map(({ served }) => served.value.clients);
  const [shared] = rules.every((one) => isDeepStrictEqual(one, rules[0])) ? rules : [];
  const finished = new Map<string, Route>();
  for (const { served } of tables) {
    const { routes, clients } = served.value;
    for (const route of routes) {
      if (!finished.has(route.id)) finished.set(route.id, shared ? route : withRules(route, clients));
    }
  }
  const claims = tables.flatMap((table) => table.claims.map((claim) => ({ ...claim, host: name })));
  const lastResort = first.served.value.routes.find(({ fallback }) => fallback === true);
  const { value } = buildHostTable(claims, { ports: [], lastResort }).served;
  return {
    ...value,
    ...(shared && { clients: shared }),
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

/** Returns a route with the rules for clients of its own host, for hosts whose rules differ. */
function withRules(route: Route, ofHost: ClientRules | undefined): Route {
  if (ofHost === undefined || route.clients !== undefined) return route;
  const { forward: _, ...clients } = ofHost;
  return { ...route, clients };
}
