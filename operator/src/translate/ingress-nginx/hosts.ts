/** Completes the hosts with ingress-nginx Ingresses when all Ingresses are planned. */
import type { HostPattern } from "@svc-gateway/common/ir/keys.ts";
import type { Route } from "@svc-gateway/common/ir/route.ts";
import { findEntry, type SortedEntries } from "@svc-gateway/common/ir/sorted-entries.ts";
import { memo } from "../incremental/memo.ts";
import type { RouteClaim } from "../ingress/claims.ts";
import { withRoutes, type HostTable } from "../ingress/host-table.ts";
import type { TlsHostTable } from "../ingress/tls-host-table.ts";
import { closedByOthers, closingsOf } from "./closed-paths.ts";
import type { FeaturesOnHost, HostFacts } from "./host-facts.ts";
import { joinFeatures } from "./join-features.ts";

type TlsHosts = SortedEntries<TlsHostTable, string>;

/**
 * Adds to routes the features that depend on the host as a whole. A table without such routes keeps its
 * identity, and a table is built again only if its facts change.
 */
export function createNginxHosts(
  ports: readonly number[],
): (tables: readonly HostTable[], tlsHosts: TlsHosts) => readonly HostTable[] {
  type Known = { readonly facts: HostFacts; readonly output: HostTable };
  const known = new WeakMap<HostTable, Known>();
  const finish = (table: HostTable, tlsHosts: TlsHosts): HostTable => {
    const facts = factsOf(table, tlsHosts);
    const last = known.get(table);
    if (last?.facts.hasTls === facts.hasTls && last.facts.ownerNamespace === facts.ownerNamespace) {
      return last.output;
    }
    const dependent = dependentOf(table);
    const output = withRoutes(table, ports, (value) => ({
      ...value,
      routes: value.routes.map((route) => onHost(route, dependent.get(route.id), facts)),
    }));
    known.set(table, { facts, output });
    return output;
  };
  let last:
    { readonly tables: object; readonly tlsHosts: object; readonly output: readonly HostTable[] } | undefined;
  return (tables, tlsHosts) => {
    if (!haveDependent(tables)) return tables;
    if (last?.tables !== tables || last.tlsHosts !== tlsHosts) {
      const output = tables.map((table) => (dependentOf(table).size === 0 ? table : finish(table, tlsHosts)));
      last = { tables, tlsHosts, output };
    }
    return last.output;
  };
}

/** The routes whose features depend on the host, by id. */
export const dependentOf = memo((table: HostTable): ReadonlyMap<string, FeaturesOnHost> => {
  const dependent = new Map<string, FeaturesOnHost>();
  const closingOf = closingsOf(table.claims);
  for (const claim of table.claims) {
    const { routes, fallback, appRoot, rest } = claim;
    const closing = closingOf(claim);
    const add = (one: RouteClaim): void => {
      const { route, featuresOn } = one;
      if (featuresOn === undefined) return;
      const closed = closing && closedByOthers(one, closing);
      dependent.set(
        route.id,
        closed === undefined ? featuresOn : (facts) => joinFeatures(closed, featuresOn(facts)),
      );
    };
    routes.forEach(add);
    for (const one of [appRoot, fallback, rest]) if (one !== undefined) add(one);
  }
  return dependent.size === 0 ? none : dependent;
});

const none: ReadonlyMap<string, FeaturesOnHost> = new Map();

const haveDependent = memo((tables: readonly HostTable[]) =>
  tables.some((table) => dependentOf(table).size > 0),
);

/** Sets the features of a route. A closed route, whose features were removed, stays without any. */
function onHost(route: Route, featuresOn: FeaturesOnHost | undefined, facts: HostFacts): Route {
  if (featuresOn === undefined || route.features === undefined) return route;
  const { features: _, ...rest } = route;
  const features = featuresOn(facts);
  return features === undefined ? rest : { ...rest, features };
}

const factsOf = ({ served: { host }, owner }: HostTable, tlsHosts: TlsHosts): HostFacts => ({
  hasTls: namesOver(host).some((name) => findEntry(tlsHosts, name)?.claims.some(isOfIngress) === true),
  ownerNamespace: owner?.namespace,
});

/** Whether a claim gives TLS to its host. The default certificate of the settings does not. */
export const isOfIngress = ({ owner, isUnlisted }: TlsHostTable["claims"][number]): boolean =>
  owner.kind === "Ingress" && isUnlisted !== true;

/** The names under which a host can be listed: its own, and the wildcard that covers it. */
export const namesOver = ({ kind, host }: HostPattern): readonly string[] =>
  kind === "exact" && host.includes(".") ? [host, `*${host.slice(host.indexOf("."))}`] : [host];
