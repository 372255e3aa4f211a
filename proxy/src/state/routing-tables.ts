import { endpointsKey, type ResourceKey, type RouteGroup } from "@svc-gateway/common/ir/keys.ts";
import type { RouteFeatures } from "@svc-gateway/common/features/registry.ts";
import type { HostRoutes } from "@svc-gateway/common/ir/route.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import type { RouteProblem } from "../routing/host-table.ts";
import { ChangingPortTable, type OpenPortTable, PortChanges } from "../routing/changing-port-table.ts";
import { createHostCompiler, type HostOwner, type RouteEnvironment } from "./route-compiler.ts";
import { createUseCounts } from "@svc-gateway/common/collections/use-counts.ts";
import { forEachInSteps, mapInSteps, type Steps } from "../timing/steps.ts";

/** The new routes of a host on a port; undefined when the host was removed. */
export type HostUpdate = {
  readonly key: ResourceKey;
  readonly owner: HostOwner;
  readonly routes: HostRoutes | undefined;
};

/** The numbers of host names with routes and of routes. A host on several ports counts once; so does a route. */
export type TableCounts = { readonly hosts: number; readonly routes: Readonly<Record<RouteGroup, number>> };

/** Compiled changes that wait to be applied. */
export type StagedTables = {
  /** The routes that are omitted. */
  readonly problems: readonly RouteProblem[];
  /** Switches the tables, in a time that does not depend on the number of changed hosts. Cannot fail. */
  commit(): void;
  /**
   * Merges the changes into the maps of the tables and updates the reference counts. Must complete before anything else
   * is staged. Returns the ids of routes that no table contains any longer.
   */
  settle(): Steps<ReadonlySet<string>>;
};

/** The port tables of a worker, with the reference counts that incremental changes need. */
export type RoutingTables = {
  /** The tables by port; ports without routes are absent. Replaced by a new map when a port is added or removed. */
  readonly tables: ReadonlyMap<number, OpenPortTable>;
  readonly counts: TableCounts;
  /** Whether any table contains the route. */
  serves(routeId: string): boolean;
  /** The endpoint sets that exist. */
  readonly endpointSets: ReadonlySet<string>;
  /**
   * Checks and compiles changed hosts without modifying the serving tables. `endpoints` are the endpoint sets that the
   * update adds (true) and removes (false). If a route names a missing set, the whole update is refused.
   */
  stage(updates: readonly HostUpdate[], endpoints: ReadonlyMap<string, boolean>): Steps<Result<StagedTables>>;
};

/** The distinct routes and endpoint sets of a host resource; one value for all ports that serve a host alike. */
type HostUses = { readonly routeIds: readonly string[]; readonly endpoints: readonly string[] };

type PortChange = { readonly table: ChangingPortTable; readonly changes: PortChanges };

/** A host resource that was compiled and waits to be applied; if `uses` is undefined, the host is removed. */
type StagedHost = {
  readonly key: ResourceKey;
  readonly owner: HostOwner;
  readonly uses: HostUses | undefined;
};

export function createRoutingTables(environment: RouteEnvironment): RoutingTables {
  const entries = new Map<ResourceKey, HostUses>();
  const hostNames = createUseCounts();
  const routeIds = { ingress: createUseCounts(), gateway: createUseCounts() };
  const endpointUses = createUseCounts();
  const endpointSets = new Set<string>();
  let tables: ReadonlyMap<number, ChangingPortTable> = new Map();

  const serves = (routeId: string): boolean =>
    routeIds.ingress.count(routeId) + routeIds.gateway.count(routeId) > 0;

  function* missingEndpoints(
    staged: readonly Pick<StagedHost, "key" | "uses">[],
    changes: ReadonlyMap<string, boolean>,
  ): Steps<string | undefined> {
    const exists = (name: string): boolean => changes.get(name) ?? endpointSets.has(name);
    const released = createUseCounts();
    const missing = yield* mapInSteps(staged, ({ key, uses }) => {
      released.add(entries.get(key)?.endpoints ?? []);
      const name = uses?.endpoints.find((one) => !exists(one));
      return name === undefined
        ? undefined
        : `resource ${key}: references ${endpointsKey(name)}, which is not in the snapshot`;
    });
    const first = missing.find((one) => one !== undefined);
    if (first !== undefined) return first;
    for (const [name, present] of changes) {
      if (!present && endpointUses.count(name) > released.count(name)) {
        return `resource ${endpointsKey(name)}: removed while routes reference it`;
      }
    }
    return undefined;
  }

  const replaceUses = ({ key, owner, uses }: StagedHost, removed: Set<string>): void => {
    const { group, host } = owner;
    const previous = entries.get(key);
    if (isEqual(previous, uses)) return;
    // New uses are added first, so that a route that only moves does not appear to be removed.
    if (uses !== undefined) {
      hostNames.add(namesOf(host, uses));
      routeIds[group].add(uses.routeIds);
      endpointUses.add(uses.endpoints);
      entries.set(key, uses);
    } else {
      entries.delete(key);
    }
    if (previous === undefined) return;
    hostNames.remove(namesOf(host, previous));
    for (const id of routeIds[group].remove(previous.routeIds)) removed.add(id);
    endpointUses.remove(previous.endpoints);
  };

  /** The table of a port, or an empty one if the port has none, with its changes. */
  const changeOf = (port: number): PortChange => {
    const table = tables.get(port) ?? new ChangingPortTable();
    return { table, changes: new PortChanges(table) };
  };

  const switchPort = (port: number, { table, changes }: PortChange): void => {
    table.switchTo(changes);
    if (table.isEmpty !== tables.has(port)) return;
    const next = new Map(tables);
    if (table.isEmpty) next.delete(port);
    else next.set(port, table);
    tables = next;
  };

  return {
    get tables() {
      return tables;
    },
    get counts() {
      const { ingress, gateway } = routeIds;
      return { hosts: hostNames.size, routes: { ingress: ingress.size, gateway: gateway.size } };
    },
    serves,
    endpointSets,
    *stage(updates, endpoints) {
      const usesOf = createUsesReader();
      const incoming = yield* mapInSteps(updates, ({ key, routes }) => ({
        key,
        uses: routes === undefined ? undefined : usesOf(routes),
      }));
      const missing = yield* missingEndpoints(incoming, endpoints);
      if (missing !== undefined) return problem(missing);
      const problems = new Set<RouteProblem>();
      const compileHost = createHostCompiler(environment);
      const ports = new Map<number, PortChange>();
      const staged = yield* mapInSteps(updates, ({ key, owner, routes }, index): StagedHost => {
        const compiled = routes === undefined ? undefined : compileHost(owner, routes);
        for (const one of compiled?.problems ?? []) problems.add(one);
        const { group, port, host } = owner;
        let change = ports.get(port);
        if (change === undefined) ports.set(port, (change = changeOf(port)));
        change.changes.set(group, host, compiled?.table);
        return { key, owner, uses: incoming[index]?.uses };
      });
      return ok({
        problems: [...problems],
        commit() {
          for (const [port, change] of ports) switchPort(port, change);
        },
        *settle() {
          const removed = new Set<string>();
          for (const { table } of ports.values()) {
            yield* table.settle();
            yield;
          }
          yield* forEachInSteps(staged, (one) => replaceUses(one, removed));
          for (const id of removed) if (serves(id)) removed.delete(id);
          for (const [name, present] of endpoints) {
            if (present) endpointSets.add(name);
            else endpointSets.delete(name);
          }
          return removed;
        },
      });
    },
  };
}

const isEqual = (previous: HostUses | undefined, next: HostUses | undefined): boolean =>
  previous !== undefined &&
  next !== undefined &&
  isSameList(previous.routeIds, next.routeIds) &&
  isSameList(previous.endpoints, next.endpoints);

const isSameList = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((name, index) => name === other[index]);

/** The names to count. A host without routes, which only keeps less specific hosts from serving it, is not counted. */
const namesOf = ({ host }: HostOwner["host"], { routeIds }: HostUses): readonly string[] =>
  routeIds.length === 0 ? [] : [host];

/** Creates a function that reads the uses of each value once: ports that serve a host alike have the same value. */
function createUsesReader(): (routes: HostRoutes) => HostUses {
  const known = new Map<HostRoutes, HostUses>();
  return (routes) => {
    let uses = known.get(routes);
    if (uses === undefined) known.set(routes, (uses = readUses(routes)));
    return uses;
  };
}

function readUses({ routes }: HostRoutes): HostUses {
  const endpoints = new Set<string>();
  const use = (name: string | undefined): void => {
    if (name !== undefined) endpoints.add(name);
  };
  const useFeatures = (features: RouteFeatures | undefined): void => {
    for (const mirror of features?.["mirror-target"] ?? []) use(mirror.endpoints);
    use(features?.["error-pages"]?.page?.endpoints);
    use(features?.["error-pages"]?.standIn?.endpoints);
  };
  for (const { backends, features } of routes) {
    useFeatures(features);
    for (const backend of backends) {
      use(backend.endpoints);
      use(backend.secureEndpoints);
      useFeatures(backend.features);
    }
  }
  return { routeIds: [...new Set(routes.map(({ id }) => id))], endpoints: [...endpoints] };
}
