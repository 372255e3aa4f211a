/** Merges canaries into the routes of their primaries. See docs/features/canary.md. */
import type { Backend, BackendChoice, Route } from "@svc-gateway/common/ir/route.ts";
import type { SortedEntries } from "@svc-gateway/common/ir/sorted-entries.ts";
import { nameOf } from "../../api/object.ts";
import { variantOf, type EndpointRef } from "../backends/service-port.ts";
import { canaryOfOtherNamespace, canaryWithoutPrimary, secondCanary } from "../diagnostics/canaries.ts";
import type { Diagnostic } from "../finding.ts";
import type { CanaryClaim } from "./canary.ts";
import type { HostClaim, RouteClaim } from "./claims.ts";
import { withRoutes, type HostTable } from "./host-table.ts";

/** The canaries of each host, the oldest first. */
export type Canaries = SortedEntries<readonly CanaryClaim[], string>;

export type WithCanaries = {
  readonly tables: readonly HostTable[];
  /** The endpoint references of canaries, with the connection settings of their primaries. */
  readonly endpointRefs: readonly EndpointRef[];
  readonly diagnostics: readonly Diagnostic[];
};

type Merged = Omit<WithCanaries, "tables"> & { readonly table: HostTable | undefined };

/** Adds canaries to routes. Tables of hosts without canaries, and tables that do not change, keep their identity. */
export function createCanaryMerger(
  ports: readonly number[],
): (tables: readonly HostTable[], canaries: Canaries) => WithCanaries {
  const known = new WeakMap<
    readonly CanaryClaim[],
    { readonly table: HostTable | undefined; readonly merged: Merged }
  >();
  let last: { readonly tables: object; readonly canaries: object; readonly output: WithCanaries } | undefined;
  const merge = (claims: readonly CanaryClaim[], table: HostTable | undefined): Merged => {
    const before = known.get(claims);
    if (before !== undefined && before.table === table) return before.merged;
    const merged = mergeHost(claims, table, ports);
    known.set(claims, { table, merged });
    return merged;
  };
  return (tables, canaries) => {
    if (canaries.keys.length === 0) return { tables, endpointRefs: [], diagnostics: [] };
    if (last?.tables === tables && last.canaries === canaries) return last.output;
    const byHost = new Map(tables.map((table) => [table.served.host.host, table]));
    const merged = new Map(
      canaries.keys.map((host, index) => [host, merge(canaries.values[index] ?? [], byHost.get(host))]),
    );
    const output = {
      tables: tables.map((table) => merged.get(table.served.host.host)?.table ?? table),
      endpointRefs: [...merged.values()].flatMap((one) => one.endpointRefs),
      diagnostics: [...merged.values()].flatMap((one) => one.diagnostics),
    };
    last = { tables, canaries, output };
    return output;
  };
}

function mergeHost(
  claims: readonly CanaryClaim[],
  table: HostTable | undefined,
  ports: readonly number[],
): Merged {
  const chosen = new Map<string, CanaryClaim>();
  const diagnostics: Diagnostic[] = [];
  const endpointRefs: EndpointRef[] = [];
  for (const claim of claims) {
    const { owner, field, host, written } = claim;
    const place = { object: owner, field };
    const primary = table && primaryOf(claim, table);
    const taken = primary && chosen.get(primary.claim.route.id);
    if (primary === undefined) diagnostics.push(canaryWithoutPrimary(place, host.host, written));
    else if (primary.owner.owner.namespace !== owner.namespace) {
      diagnostics.push(canaryOfOtherNamespace(place, host.host, written, nameOf(primary.owner.owner)));
    } else if (taken !== undefined) {
      if (taken.owner !== owner)
        diagnostics.push(secondCanary(place, host.host, written, nameOf(taken.owner)));
    } else chosen.set(primary.claim.route.id, claim);
  }
  if (table === undefined || chosen.size === 0) return { table: undefined, endpointRefs, diagnostics };
  const changed = withRoutes(table, ports, (value) => ({
    ...value,
    routes: value.routes.map((route) => {
      const claim = chosen.get(route.id);
      return claim === undefined ? route : withCanary(route, claim, endpointRefs);
    }),
  }));
  return { table: changed, endpointRefs, diagnostics };
}

type Primary = { readonly claim: RouteClaim; readonly owner: HostClaim };

/** The route with the same path and path type, of an Ingress that is not a canary. */
function primaryOf({ written, pathType }: CanaryClaim, { claims, served }: HostTable): Primary | undefined {
  const ids = new Set(served.value.routes.map(({ id }) => id));
  for (const owner of claims) {
    for (const claim of owner.routes) {
      if (claim.pathType === undefined || claim.pathType !== pathType || claim.written !== written) continue;
      if (ids.has(claim.route.id)) return { claim, owner };
    }
  }
  return undefined;
}

/** Adds the canary as a second backend, with both weights, and the conditions that decide between the backends. */
function withCanary(
  route: Route,
  { backend, endpointRef, rule }: CanaryClaim,
  endpointRefs: EndpointRef[],
): Route {
  const [primary] = route.backends;
  if (primary?.status !== undefined || primary === undefined || route.backends.length > 1) return route;
  const { weight, total, isUnbound } = rule;
  const choices = rule.choices.map(({ when, takes }): BackendChoice => ({
    when,
    weights: takes ? [0, 1] : [1, 0],
  }));
  return {
    ...route,
    backends: [
      { ...primary, weight: total - weight },
      {
        ...asPrimary(backend, primary, endpointRef, endpointRefs),
        weight,
        ...(isUnbound && { unbound: true as const }),
      },
    ],
    ...(choices.length > 0 && { choices }),
  };
}

/**
 * Connects to the canary in the same way as to its primary, because a canary has no connection settings of its own.
 */
function asPrimary(
  backend: Backend,
  primary: Backend,
  endpointRef: EndpointRef | undefined,
  endpointRefs: EndpointRef[],
): Backend {
  if (backend.endpoints === undefined || endpointRef === undefined) return backend;
  const asIn = (endpoints: string | undefined): string | undefined => {
    if (endpoints === undefined) return undefined;
    const id = endpoints.split("/")[3];
    if (id === undefined) return endpointRef.name;
    const variant = variantOf(endpointRef, { id, tls: `ingress-nginx/${id}` });
    endpointRefs.push(variant);
    return variant.name;
  };
  const endpoints = asIn(primary.endpoints);
  const secureEndpoints = asIn(primary.secureEndpoints);
  return {
    ...backend,
    protocol: primary.protocol,
    ...(primary.closes && { closes: primary.closes }),
    ...(endpoints !== undefined && { endpoints }),
    ...(secureEndpoints !== undefined && { secureEndpoints }),
  };
}
