/** The host tables of Gateways: which listener has which host on a port, and what it serves there. */
import { routeKey, type HostPattern } from "@svc-gateway/common/ir/keys.ts";
import { encodeFresh, type Resource } from "@svc-gateway/common/ir/resource.ts";
import type { HostRoutes, Route } from "@svc-gateway/common/ir/route.ts";
import { listMemo, memo } from "../memo.ts";
import type { ServedHost } from "../translation.ts";
import type { Guard } from "./external-auths.ts";
import type { Listener } from "./gateways.ts";
import { covers, intersect, specificity } from "./hostnames.ts";
import { comparePrecedence } from "./precedence.ts";
import type { CommonPlan, RoutePlan } from "./route-plan.ts";

/** What a route serves on one host of one listener. */
export type Claim<Plan> = {
  readonly listener: Listener;
  readonly host: HostPattern;
  readonly plan: Plan;
};

export type HostClaim = Claim<RoutePlan>;

export type GatewayHost = { readonly served: ServedHost; readonly resource: Resource };

/** Listeners that serve on one port of one scope. */
export type PortListeners = { readonly port: number; readonly listeners: readonly Listener[] };

/**
 * The tables of all ports. Each host belongs to the narrowest listener of its port that covers it, and to no other
 * (listener isolation): each listener has a table for its own host name, even an empty one, so that requests for it
 * never fall to another listener. Within a listener a request goes on from narrower hosts to wider ones.
 */
export function createHostTableBuilder(): (
  ports: readonly PortListeners[],
  claims: ReadonlyMap<string, readonly HostClaim[]>,
  guardOf: (listener: Listener) => Guard | undefined,
) => readonly GatewayHost[] {
  const tablesUnder = memo((guard: Guard) =>
    listMemo((claims: readonly HostClaim[], port: number) => buildTable(claims, port, guard)),
  );
  const emptyTablesOf = memo(noTables);
  return (ports, claims, guardOf) => {
    const hosts: GatewayHost[] = [];
    for (const { port, listeners: all } of ports) {
      const listeners = all.filter(({ protocol }) => protocol === "http" || protocol === "https");
      for (const listener of listeners) {
        const byHost = Map.groupBy(claims.get(listener.id) ?? [], ({ host }) => host.host);
        const tableOf = tablesUnder(guardOf(listener) ?? unguarded);
        for (const ofHost of byHost.values()) {
          const host = ofHost[0]?.host;
          if (host !== undefined && ownerOf(host, listeners) === listener) hosts.push(tableOf(ofHost, port));
        }
        if (byHost.has(listener.hostname.host)) continue;
        const known = emptyTablesOf(listener);
        const table =
          known.get(port) ?? encode(port, listener.hostname, { ...identity(listener), routes: [] });
        known.set(port, table);
        hosts.push(table);
      }
    }
    return hosts;
  };
}

/** Tables without routes, by port. */
const noTables: (listener: Listener) => Map<number, GatewayHost> = () => new Map();

/** The narrowest of the listeners that cover a host. */
export function ownerOf(host: HostPattern, listeners: readonly Listener[]): Listener | undefined {
  let owner: Listener | undefined;
  for (const listener of listeners) {
    if (!covers(listener.hostname, host)) continue;
    if (owner === undefined || specificity(listener.hostname) > specificity(owner.hostname)) owner = listener;
  }
  return owner;
}

const identity = ({ id, backendCertificate, filters: { steps } }: Listener): Omit<HostRoutes, "routes"> => ({
  listener: id,
  inherit: true,
  ...(backendCertificate !== undefined && { clientCertificate: backendCertificate }),
  ...(steps.length > 0 && { filters: steps }),
});

/** Nobody is asked for the Gateway as a whole. */
const unguarded: Guard = { asked: [], needs: [] };

function buildTable(claims: readonly HostClaim[], port: number, guard: Guard): GatewayHost {
  const [first] = claims;
  if (first === undefined) throw new Error("a table needs a claim");
  const levels = [...new Set(claims.map(narrowness))].sort((a, b) => b - a);
  const ranked = claims.flatMap((claim) => {
    const tier = levels.indexOf(narrowness(claim));
    const { age, routes } = claim.plan;
    return routes.map((route, position) => ({
      route: tier === 0 ? route : { ...route, tier },
      tier,
      age,
      position,
    }));
  });
  const routes = ranked.sort(comparePrecedence).map(({ route }) => guarded(route, guard));
  return encode(port, first.host, { ...identity(first.listener), routes });
}

/** How narrow the route's own host name is of which its listener takes this host; 0 for a route without host names. */
export function narrowness({ listener, host, plan }: Claim<CommonPlan>): number {
  const names = (plan.hosts ?? []).filter((one) => intersect(listener.hostname, one)?.host === host.host);
  return Math.max(0, ...names.map(specificity));
}

/** Whoever is asked for the Gateway is asked before those of the route. */
function guarded(route: Route, { asked }: Guard): Route {
  if (asked.length === 0) return route;
  const own = route.features?.["ext-auth"] ?? [];
  return { ...route, features: { ...route.features, "ext-auth": [...asked, ...own] } };
}

const encode = (port: number, host: HostPattern, value: HostRoutes): GatewayHost => ({
  served: { group: "gateway", ports: [port], host, value },
  resource: encodeFresh(routeKey("gateway", port, host), value),
});
