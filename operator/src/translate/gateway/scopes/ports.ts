/**
 * The ports that the shared proxies bind for Gateways. All Gateways share the pods of these proxies, so each
 * port of a Gateway is assigned a port of its own in the pods, and the Service of the Gateway maps one to the
 * other. An existing mapping of a Service is kept. See docs/gateway-api.md, "Shared proxies".
 *
 * A port that no observed Service maps to yet is only planned: the next translation may plan another one, because an
 * older Gateway has arrived, and another replica may plan differently. So the proxies do not bind it. They bind a port
 * once the Service of its Gateway maps to it, and the writer of the Services ensures that no two Services map to one
 * port (../../../reconcilers/gateway/port-claims.ts). docs/adr/0044-bound-once-observed.md has the reasons.
 */
import type { ObjectOf } from "../../../api/kinds.ts";
import { refOf } from "../../../api/object.ts";
import { objectsIn, type World } from "../../../world.ts";
import { internalPortRangeExhausted, internalPortRemapped } from "../../events.ts";
import type { DesiredEvent } from "../../finding.ts";
import { memo } from "../../incremental/memo.ts";
import { listenersOf, type PlannedGateway } from "../listeners/gateways.ts";
import { componentLabel, vipComponent, vipName } from "../names.ts";

export const firstInternalPort = 30_000;
export const lastInternalPort = 32_767;

/** The port that proxies bind, by the port that clients use. A port without an assignment is missing. */
export type Bindings = ReadonlyMap<number, number>;

export type Assignment = {
  /** The ports that are assigned to a Gateway, including those that its Service does not map to yet. */
  readonly of: (gateway: PlannedGateway) => Bindings;
  /** The part of them that the proxies bind. */
  readonly bound: (gateway: PlannedGateway) => Bindings;
  readonly events: readonly DesiredEvent[];
};

/**
 * Binds the ports that clients use; nothing is assigned. Ports on which a Gateway only closes names are included: other
 * Gateways can serve on them.
 */
export function bindAdvertised(): (gateways: readonly PlannedGateway[]) => Assignment {
  const of = memo(
    (gateway: PlannedGateway): Bindings =>
      new Map([...portsOf(gateway), ...closedPortsOf(gateway)].map((port) => [port, port])),
  );
  return () => ({ of, bound: of, events: [] });
}

/**
 * Assigns internal ports. A Gateway keeps the mapping of its Service in `namespace`; all other ports get the lowest
 * free numbers, those of the oldest Gateway first, and are bound once the Service maps to them. The bindings of a Gateway
 * are the same value until they change.
 */
export function bindInternal(
  namespace: string,
): (gateways: readonly PlannedGateway[], world: World) => Assignment {
  const rememberAssigned = createReuse();
  const rememberBound = createReuse();
  return (gateways, world) => {
    const vips = vipsOf(world, namespace);
    const taken = new Set<number>();
    const kept = new Map<PlannedGateway, Map<number, number>>();
    const events: DesiredEvent[] = [];
    for (const gateway of gateways) {
      kept.set(gateway, keep(portsOf(gateway), vips.get(vipName(gateway.gateway)), taken));
    }
    // Ports of Gateways that were deleted, or that serve nothing now, become free when their Services are
    // deleted.
    const serving = new Set(
      gateways.filter((one) => portsOf(one).length > 0).map(({ gateway }) => vipName(gateway)),
    );
    for (const [name, vip] of vips)
      if (!serving.has(name)) keep(Array.from(mappingOf(vip).keys()), vip, taken);

    const assigned = new Map<PlannedGateway, Bindings>();
    const bound = new Map<PlannedGateway, Bindings>();
    let next = firstInternalPort;
    for (const gateway of gateways) {
      const observed = kept.get(gateway) ?? nothing;
      const bindings = new Map(observed);
      const before = mappingOf(vips.get(vipName(gateway.gateway)));
      const unassigned: number[] = [];
      for (const port of portsOf(gateway)) {
        if (bindings.has(port)) continue;
        while (next <= lastInternalPort && taken.has(next)) next++;
        if (next > lastInternalPort) {
          unassigned.push(port);
          continue;
        }
        taken.add(next);
        bindings.set(port, next);
        const old = before.get(port);
        if (old !== undefined) events.push(internalPortRemapped(refOf(gateway.gateway), port, old, next));
      }
      if (unassigned.length > 0) {
        events.push(internalPortRangeExhausted(refOf(gateway.gateway), listenersOn(gateway, unassigned)));
      }
      const all = rememberAssigned(gateway, bindings);
      assigned.set(gateway, all);
      bound.set(gateway, observed.size === all.size ? all : rememberBound(gateway, observed));
    }
    return {
      of: (gateway) => assigned.get(gateway) ?? nothing,
      bound: (gateway) => bound.get(gateway) ?? nothing,
      events,
    };
  };
}

/** Returns the last bindings of a Gateway again if the given ones are equal. */
function createReuse(): (gateway: PlannedGateway, bindings: Bindings) => Bindings {
  const known = new WeakMap<PlannedGateway, { readonly key: string; readonly bindings: Bindings }>();
  return (gateway, bindings) => {
    const key = JSON.stringify([...bindings]);
    const last = known.get(gateway);
    if (last?.key === key) return last.bindings;
    known.set(gateway, { key, bindings });
    return bindings;
  };
}

const nothing: Bindings = new Map();

/** The ports of the listeners that serve, ascending. */
export const portsOf = (gateway: PlannedGateway): readonly number[] =>
  [
    ...new Set(
      listenersOf(gateway)
        .filter(({ serves }) => serves)
        .map(({ port }) => port),
    ),
  ].sort((a, b) => a - b);

/** The ports of the listeners that close their names. */
const closedPortsOf = (gateway: PlannedGateway): readonly number[] =>
  listenersOf(gateway)
    .filter(({ closes }) => closes)
    .map(({ port }) => port);

const listenersOn = (gateway: PlannedGateway, ports: readonly number[]): readonly string[] =>
  listenersOf(gateway)
    .filter(({ serves, port }) => serves && ports.includes(port))
    .map(({ name }) => name);

/** The Services in a namespace that map to internal ports, by name. */
export function vipsOf(world: World, namespace: string): ReadonlyMap<string, ObjectOf<"Service">> {
  const vips = new Map<string, ObjectOf<"Service">>();
  for (const service of objectsIn(world, "Service", namespace)) {
    const { labels, name } = service.metadata;
    if (labels?.[componentLabel] === vipComponent) vips.set(name, service);
  }
  return vips;
}

/** The mapping of a Service from ports to target ports. */
export const mappingOf = (vip: ObjectOf<"Service"> | undefined): ReadonlyMap<number, number> =>
  new Map(
    (vip?.spec?.ports ?? []).flatMap(({ port, targetPort }): [number, number][] =>
      typeof targetPort === "number" ? [[port, targetPort]] : [],
    ),
  );

/** The part of a Service's mapping that is in range and not already taken by an earlier Gateway. */
function keep(
  ports: readonly number[],
  vip: ObjectOf<"Service"> | undefined,
  taken: Set<number>,
): Map<number, number> {
  const mapping = mappingOf(vip);
  const kept = new Map<number, number>();
  for (const port of ports) {
    const internal = mapping.get(port);
    if (internal === undefined || internal < firstInternalPort || internal > lastInternalPort) continue;
    if (taken.has(internal)) continue;
    taken.add(internal);
    kept.set(port, internal);
  }
  return kept;
}
