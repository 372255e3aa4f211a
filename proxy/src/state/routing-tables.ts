import { endpointsKey, type ResourceKey, type RouteGroup } from "@svc-gateway/common/ir/keys.ts";
import type { HostRoutes } from "@svc-gateway/common/ir/route.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import {
  changeHosts,
  emptyHostIndex,
  type HostChange,
  type HostIndex,
  type PortHosts,
} from "../routing/host-index.ts";
import type { RouteProblem } from "../routing/host-table.ts";
import { createPortTable, type OpenPortTable } from "../routing/port-table.ts";
import { compileHost, type HostOwner, type RouteEnvironment } from "./route-compiler.ts";
import { createUseCounts } from "@svc-gateway/common/collections/use-counts.ts";

/** The new routes of a host of a port; undefined when the host is gone. */
export type HostUpdate = {
  readonly key: ResourceKey;
  readonly owner: HostOwner;
  readonly routes: HostRoutes | undefined;
};

/** How many host names and routes there are; what serves several ports or hosts counts once. */
export type TableCounts = { readonly hosts: number; readonly routes: Readonly<Record<RouteGroup, number>> };

/** Compiled changes that wait to be put in place. */
export type StagedTables = {
  /** Routes that are left out. */
  readonly problems: readonly RouteProblem[];
  /** Swaps the tables; returns the ids of routes that no table has any more. Cannot fail. */
  commit(): ReadonlySet<string>;
};

/** The port tables of a worker and what must be known to change them piece by piece. */
export type RoutingTables = {
  /** A new map after every change; ports without routes are not in it. */
  readonly tables: ReadonlyMap<number, OpenPortTable>;
  readonly counts: TableCounts;
  /** The endpoint sets that there are. */
  readonly endpointSets: ReadonlySet<string>;
  /**
   * Checks and compiles changed hosts without touching what serves. `endpoints` are the endpoint sets that come
   * (true) and go (false) with the update; a route that would name a missing set refuses the whole update.
   */
  stage(updates: readonly HostUpdate[], endpoints: ReadonlyMap<string, boolean>): Result<StagedTables>;
};

/** What is remembered of a host resource. */
type HostEntry = {
  readonly owner: HostOwner;
  readonly routeIds: ReadonlySet<string>;
  readonly endpoints: ReadonlySet<string>;
};

export function createRoutingTables(environment: RouteEnvironment): RoutingTables {
  const entries = new Map<ResourceKey, HostEntry>();
  const hostNames = createUseCounts();
  const routeIds = { ingress: createUseCounts(), gateway: createUseCounts() };
  const endpointUses = createUseCounts();
  const endpointSets = new Set<string>();
  let tables: ReadonlyMap<number, OpenPortTable> = new Map();

  const missingEndpoints = (
    updates: readonly { readonly key: ResourceKey; readonly entry: HostEntry | undefined }[],
    changes: ReadonlyMap<string, boolean>,
  ): string | undefined => {
    const exists = (name: string): boolean => changes.get(name) ?? endpointSets.has(name);
    const released = createUseCounts();
    for (const { key, entry } of updates) {
      released.add(entries.get(key)?.endpoints ?? []);
      for (const name of entry?.endpoints ?? []) {
        if (!exists(name))
          return `resource ${key}: names ${endpointsKey(name)}, which the snapshot does not have`;
      }
    }
    for (const [name, present] of changes) {
      if (!present && endpointUses.count(name) > released.count(name)) {
        return `resource ${endpointsKey(name)}: removed while routes name it`;
      }
    }
    return undefined;
  };

  const replaceEntry = (key: ResourceKey, entry: HostEntry | undefined, gone: Set<string>): void => {
    const previous = entries.get(key);
    // New uses first: a route that only moves must not look gone.
    if (entry !== undefined) {
      hostNames.add([entry.owner.host.host]);
      routeIds[entry.owner.group].add(entry.routeIds);
      endpointUses.add(entry.endpoints);
      entries.set(key, entry);
    } else {
      entries.delete(key);
    }
    if (previous === undefined) return;
    hostNames.remove([previous.owner.host.host]);
    for (const id of routeIds[previous.owner.group].remove(previous.routeIds)) gone.add(id);
    endpointUses.remove(previous.endpoints);
  };

  return {
    get tables() {
      return tables;
    },
    get counts() {
      const { ingress, gateway } = routeIds;
      return { hosts: hostNames.size, routes: { ingress: ingress.size, gateway: gateway.size } };
    },
    endpointSets,
    stage(updates, endpoints) {
      const incoming = updates.map(({ key, owner, routes }) => ({
        key,
        entry: routes === undefined ? undefined : entryOf(owner, routes),
      }));
      const missing = missingEndpoints(incoming, endpoints);
      if (missing !== undefined) return problem(missing);
      const problems: RouteProblem[] = [];
      const changes: (HostChange & { readonly owner: HostOwner })[] = [];
      for (const { owner, routes } of updates) {
        const compiled = routes === undefined ? undefined : compileHost(owner, routes, environment);
        problems.push(...(compiled?.problems ?? []));
        changes.push({ owner, host: owner.host, table: compiled?.table });
      }
      const next = changeTables(tables, changes);
      return ok({
        problems,
        commit() {
          const gone = new Set<string>();
          for (const { key, entry } of incoming) replaceEntry(key, entry, gone);
          for (const id of gone) {
            if (routeIds.ingress.count(id) + routeIds.gateway.count(id) > 0) gone.delete(id);
          }
          for (const [name, present] of endpoints) {
            if (present) endpointSets.add(name);
            else endpointSets.delete(name);
          }
          tables = next;
          return gone;
        },
      });
    },
  };
}

function entryOf(owner: HostOwner, { routes }: HostRoutes): HostEntry {
  const endpoints = new Set<string>();
  for (const { backends, features } of routes) {
    for (const mirror of features?.["mirror-target"] ?? []) endpoints.add(mirror.endpoints);
    for (const backend of backends) {
      if (backend.endpoints !== undefined) endpoints.add(backend.endpoints);
      for (const mirror of backend.features?.["mirror-target"] ?? []) endpoints.add(mirror.endpoints);
    }
  }
  return { owner, routeIds: new Set(routes.map(({ id }) => id)), endpoints };
}

const noHosts: PortHosts = { gateway: emptyHostIndex, ingress: emptyHostIndex };

/** The tables with changed hosts; the tables of ports that do not change stay the same objects. */
function changeTables(
  tables: ReadonlyMap<number, OpenPortTable>,
  changes: readonly (HostChange & { readonly owner: HostOwner })[],
): ReadonlyMap<number, OpenPortTable> {
  if (changes.length === 0) return tables;
  const next = new Map(tables);
  for (const [port, ofPort] of Map.groupBy(changes, ({ owner }) => owner.port)) {
    const present = tables.get(port)?.hosts ?? noHosts;
    const of = (group: RouteGroup): HostIndex =>
      changeHosts(
        present[group],
        ofPort.filter(({ owner }) => owner.group === group),
      );
    const hosts = { gateway: of("gateway"), ingress: of("ingress") };
    if (isEmpty(hosts.gateway) && isEmpty(hosts.ingress)) next.delete(port);
    else next.set(port, createPortTable(hosts));
  }
  return next;
}

const isEmpty = ({ exact, wildcard, any }: HostIndex): boolean =>
  exact.size === 0 && wildcard.size === 0 && any === undefined;
