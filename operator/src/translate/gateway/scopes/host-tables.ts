/** The host tables of Gateways: the listener of each host on a port, and the routes that it serves there. */
import { joinLists } from "@svc-gateway/common/collections/join-lists.ts";
import { listChanges } from "@svc-gateway/common/collections/list-changes.ts";
import { routeKey, type HostPattern } from "@svc-gateway/common/ir/keys.ts";
import { encodeFresh, type Resource } from "@svc-gateway/common/ir/resource.ts";
import type { HostRoutes, Route } from "@svc-gateway/common/ir/route.ts";
import {
  changeEntries,
  findEntry,
  noEntries,
  type SortedEntries,
} from "@svc-gateway/common/ir/sorted-entries.ts";
import { haveSameItems } from "../../incremental/memo.ts";
import type { ServedHost } from "../../routing.ts";
import { inTiers } from "../../tiers.ts";
import { covers, intersect, specificity } from "../hostnames.ts";
import { demandOf } from "../listeners/frontend-validation.ts";
import type { Listener } from "../listeners/gateways.ts";
import type { Guard } from "../model.ts";
import { comparePrecedence } from "../routes/precedence.ts";
import type { CommonPlan, RoutePlan } from "../routes/route-plan.ts";

/** The claim of a route on one host of one listener. */
export type Claim<Plan> = {
  readonly listener: Listener;
  readonly host: HostPattern;
  readonly plan: Plan;
};

/** All claims on one host of one listener. */
export type ClaimedHost<Plan> = {
  /** The id of the listener. */
  readonly listener: string;
  readonly host: HostPattern;
  readonly claims: readonly Claim<Plan>[];
};

/** The claims of a listener by host. The value keeps its identity until its content changes. */
export type ClaimsOfListener<Plan> = SortedEntries<ClaimedHost<Plan>, string>;

export type GatewayHost = { readonly served: ServedHost; readonly resource: Resource };

/** Listeners that serve on one port of one scope. */
export type PortListeners = { readonly port: number; readonly listeners: readonly Listener[] };

/** The tables of one listener on one port, and the inputs that they were built from. */
type ListenerTables = {
  readonly listener: Listener;
  /** All listeners of the port. */
  readonly peers: readonly Listener[];
  readonly guard: Guard;
  readonly claims: ClaimsOfListener<RoutePlan>;
  /** Whether requests for its own host belong to another table unless a route here serves them. */
  readonly isTaken: boolean;
  /** The tables by host. */
  readonly tables: SortedEntries<GatewayHost, string>;
};

/**
 * Builds the tables of all ports. Each host belongs only to the narrowest listener of its port that covers it
 * (listener isolation). Each listener has a table for its own host name, even an empty one, so that its
 * requests never fall through to another listener. A TLS listener beside HTTPS listeners also has one, so that
 * its requests are answered 421. Within a listener, a request that no route matches falls through from narrower
 * hosts to wider ones.
 */
export function createHostTableBuilder(): (
  ports: readonly PortListeners[],
  claims: ReadonlyMap<string, ClaimsOfListener<RoutePlan>>,
  guardOf: (listener: Listener) => Guard | undefined,
  isTaken: (listener: Listener, port: number) => boolean,
) => readonly GatewayHost[] {
  let known: ReadonlyMap<string, ListenerTables> = new Map();
  return (ports, claims, guardOf, isTaken) => {
    const next = new Map<string, ListenerTables>();
    for (const { port, listeners: all } of ports) {
      const peers = peersOf(all);
      for (const listener of peers) {
        const key = `${port} ${listener.id}`;
        const inputs = {
          listener,
          peers,
          guard: guardOf(listener) ?? unguarded,
          claims: claims.get(listener.id) ?? noEntries,
          isTaken: isTaken(listener, port),
        };
        next.set(key, { ...inputs, tables: tablesOf(port, inputs, known.get(key)) });
      }
    }
    known = next;
    return joinLists(...[...next.values()].map(({ tables }) => tables.values));
  };
}

/**
 * The listeners whose hosts requests can name. Requests for the name of a TLS listener can arrive over
 * connections of HTTPS listeners, because clients reuse them for every name in the certificate (RFC 9113
 * 9.1.1).
 */
function peersOf(listeners: readonly Listener[]): readonly Listener[] {
  const serving = listeners.filter(({ protocol }) => protocol === "http" || protocol === "https");
  if (!serving.some(({ protocol }) => protocol === "https")) return serving;
  const named = listeners.filter(({ protocol, hostname }) => protocol === "tls" && hostname.kind !== "any");
  return named.length === 0 ? serving : [...serving, ...named];
}

/** If only claims have changed, only the tables of their hosts are built again. */
function tablesOf(
  port: number,
  inputs: Omit<ListenerTables, "tables">,
  last: ListenerTables | undefined,
): ListenerTables["tables"] {
  const { listener, peers, guard, claims, isTaken } = inputs;
  const isSame =
    last !== undefined &&
    last.listener === listener &&
    last.guard === guard &&
    last.isTaken === isTaken &&
    haveSameItems(last.peers, peers);
  const before = isSame ? last : { claims: noEntries, tables: noEntries };
  const { removed, added } = listChanges<ClaimedHost<RoutePlan>>(before.claims.values, claims.values);
  const changes = new Map<string, GatewayHost | undefined>();
  for (const { host } of removed) changes.set(host.host, undefined);
  for (const { host, claims: ofHost } of added) {
    const isOwn = ownerOf(host, peers) === listener;
    changes.set(host.host, isOwn ? buildTable(ofHost, port, guard) : undefined);
  }
  const { hostname } = listener;
  const hasOwn = findEntry(claims, hostname.host) !== undefined;
  if (!hasOwn && !isTaken && (!isSame || changes.has(hostname.host))) {
    changes.set(hostname.host, encode(port, hostname, { ...identity(listener), routes: [] }));
  }
  return changeEntries<GatewayHost, string>(before.tables, changes);
}

/** The narrowest of the listeners that cover a host. */
export function ownerOf(host: HostPattern, listeners: readonly Listener[]): Listener | undefined {
  let owner: Listener | undefined;
  for (const listener of listeners) {
    if (!covers(listener.hostname, host)) continue;
    if (owner === undefined || specificity(listener.hostname) > specificity(owner.hostname)) owner = listener;
  }
  return owner;
}

function identity(listener: Listener): Omit<HostRoutes, "routes"> {
  const { id, backendCertificate, filters, serves } = listener;
  const clients = demandOf(listener);
  return {
    ...(backendCertificate !== undefined && { clientCertificate: backendCertificate }),
    ...(clients && { clients }),
    // The resources of filters exist only for listeners that serve.
    ...(serves && filters.steps.length > 0 && { filters: filters.steps }),
    inherit: true,
    listener: id,
  };
}

/** The guard of a Gateway without authorization. */
const unguarded: Guard = { asked: [], endpointRefs: [] };

function buildTable(claims: readonly Claim<RoutePlan>[], port: number, guard: Guard): GatewayHost {
  const [first] = claims;
  if (first === undefined) throw new Error("a table needs a claim");
  const levels = [...new Set(claims.map(narrowness))].sort((a, b) => b - a);
  const ranked = claims.flatMap((claim) => {
    const { age, routes, isLast } = claim.plan;
    const level = isLast ? levels.length : levels.indexOf(narrowness(claim));
    return routes.map(({ route, pathRank }, position) => ({
      route,
      pathRank,
      level,
      age,
      position,
    }));
  });
  const routes = inTiers(ranked.sort(comparePrecedence)).map((route) => guarded(route, guard));
  return encode(port, first.host, { ...identity(first.listener), routes });
}

/**
 * The rank of the narrowest host name of the route that yields this host at the listener; 0 for a route without
 * host names.
 */
export function narrowness({ listener, host, plan }: Claim<CommonPlan>): number {
  const names = (plan.hosts ?? []).filter((one) => intersect(listener.hostname, one)?.host === host.host);
  return Math.max(0, ...names.map(specificity));
}

/** Puts the authorization of the Gateway before those of the route. */
function guarded(route: Route, { asked }: Guard): Route {
  if (asked.length === 0) return route;
  const own = route.features?.["ext-auth"] ?? [];
  return { ...route, features: { ...route.features, "ext-auth": [...asked, ...own] } };
}

const encode = (port: number, host: HostPattern, value: HostRoutes): GatewayHost => ({
  served: { group: "gateway", ports: [port], host, value },
  resource: encodeFresh(routeKey("gateway", port, host), value),
});
