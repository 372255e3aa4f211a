/** The desired statuses of all Gateway API objects. Each is the same value until its content changes. */
import type { ObjectOf } from "../../../api/kinds.ts";
import type { World } from "../../../world.ts";
import { conditionOf, type DesiredCondition } from "../../condition.ts";
import { trackedMemo } from "../../incremental/memo.ts";
import type { View } from "../../incremental/view.ts";
import { readClassParameters } from "../dedicated/parameters.ts";
import { listenersOf, type ListenerGroup } from "../listeners/gateways.ts";
import { overlapsOf } from "../listeners/overlaps.ts";
import type { ParentlessSet } from "../listeners/parentless-sets.ts";
import { boundResource } from "../scopes/bound-resource.ts";
import type { PlacedGateway } from "../scopes/placement.ts";
import type { Bindings } from "../scopes/ports.ts";
import {
  gatewayStatus,
  listenerSetStatus,
  type GatewayStatus,
  type ListenerFacts,
  type ListenerSetStatus,
  type RouteStatus,
} from "./object-status.ts";

export type GatewayClassStatus = {
  readonly object: ObjectOf<"GatewayClass">;
  readonly conditions: readonly DesiredCondition[];
};

export type GatewayStatuses = {
  readonly classes: readonly GatewayClassStatus[];
  readonly gateways: readonly GatewayStatus[];
  readonly listenerSets: readonly ListenerSetStatus[];
  readonly parentlessSets: readonly ParentlessSet[];
  readonly routes: readonly RouteStatus[];
};

type StatusInput = {
  readonly classes: ReadonlyMap<string, ObjectOf<"GatewayClass">>;
  readonly gateways: readonly PlacedGateway[];
  /** Returns the ports that the proxies which should serve a Gateway bind or will bind. */
  readonly bindingsOf: (gateway: PlacedGateway) => Bindings;
  readonly parentlessSets: readonly ParentlessSet[];
  /** The statuses of routes with a parent of this controller. */
  readonly routes: readonly RouteStatus[];
  /** Returns the number of routes that are attached to the listener with this id. */
  readonly attached: ListenerFacts["attached"];
  readonly world: World;
};

/** Remembers the status of each Gateway until its listeners, their ports or their numbers of routes change. */
export function createStatusBuilder(): (input: StatusInput) => GatewayStatuses {
  const ofClass = trackedMemo((object: ObjectOf<"GatewayClass">, _: undefined, view): GatewayClassStatus => ({
    object,
    conditions: classConditions(object, view),
  }));
  type Entry = {
    readonly counts: string;
    readonly ports: Bindings;
    readonly statuses: StatusesOfGateway;
  };
  const known = new WeakMap<PlacedGateway, Entry>();
  return ({ classes, gateways, bindingsOf, parentlessSets, routes, attached, world }) => {
    const ofGateways = gateways.map((planned) => {
      const counts = countsOf(planned, attached);
      const ports = bindingsOf(planned);
      const last = known.get(planned);
      if (last?.counts === counts && last.ports === ports) return last.statuses;
      const statuses = build(planned, {
        attached,
        ports,
        bound: boundResource(planned, ports),
        overlaps: overlapsOf(planned),
      });
      known.set(planned, { counts, ports, statuses });
      return statuses;
    });
    return {
      classes: [...classes.values()].map((one) => ofClass(one, undefined, world)),
      gateways: ofGateways.map(({ gateway }) => gateway),
      listenerSets: ofGateways.flatMap(({ sets }) => sets),
      parentlessSets,
      routes,
    };
  };
}

/**
 * The conditions of a class. An API server that has the kind only in a version before v1 has CRDs that are
 * older than v1.0 of the API.
 */
const classConditions = (object: ObjectOf<"GatewayClass">, view: View): readonly DesiredCondition[] => {
  const parameters = readClassParameters(object, view);
  return [
    conditionOf("Accepted", parameters.ok ? undefined : parameters.error, {
      reason: "Accepted",
      message: "Gateways of this class are accepted",
    }),
    conditionOf(
      "SupportedVersion",
      object.apiVersion.endsWith("/v1")
        ? undefined
        : {
            reason: "UnsupportedVersion",
            message: "The installed version of the Gateway API is older than v1.0, expected v1.0 or later",
          },
      { reason: "SupportedVersion", message: "The installed version of the Gateway API is supported" },
    ),
  ];
};

type StatusesOfGateway = { readonly gateway: GatewayStatus; readonly sets: readonly ListenerSetStatus[] };

const countsOf = (gateway: PlacedGateway, attached: ListenerFacts["attached"]): string =>
  listenersOf(gateway)
    .map(({ id }) => attached(id))
    .join(" ");

const build = (planned: PlacedGateway, facts: ListenerFacts): StatusesOfGateway => ({
  gateway: gatewayStatus(planned, facts),
  sets: planned.sets.flatMap((group) => (isOfSet(group) ? [listenerSetStatus(group, planned, facts)] : [])),
});

const isOfSet = (
  group: ListenerGroup,
): group is ListenerGroup & { readonly owner: ObjectOf<"ListenerSet"> } => group.owner.kind === "ListenerSet";
