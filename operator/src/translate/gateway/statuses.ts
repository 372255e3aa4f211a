/** The desired statuses of all Gateway API objects; each stays the same value for as long as it says the same. */
import type { Resource } from "@svc-gateway/common/ir/resource.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import type { DesiredCondition } from "../condition.ts";
import { memo } from "../memo.ts";
import type { ListenerGroup, PlannedGateway } from "./gateways.ts";
import type { Assignment, Bindings } from "./ports.ts";
import {
  gatewayStatus,
  listenerSetStatus,
  type GatewayStatus,
  type ListenerFacts,
  type ListenerSetStatus,
  type RouteStatus,
} from "./status.ts";

export type GatewayClassStatus = {
  readonly object: ObjectOf<"GatewayClass">;
  readonly conditions: readonly DesiredCondition[];
};

export type GatewayStatuses = {
  readonly classes: readonly GatewayClassStatus[];
  readonly gateways: readonly GatewayStatus[];
  readonly listenerSets: readonly ListenerSetStatus[];
  readonly routes: readonly RouteStatus[];
};

type StatusInput = {
  readonly classes: ReadonlyMap<string, ObjectOf<"GatewayClass">>;
  readonly gateways: readonly PlannedGateway[];
  readonly bindings: Assignment;
  /** What proxies bind for a Gateway. */
  readonly boundOf: (gateway: PlannedGateway) => Resource | undefined;
  readonly routes: readonly RouteStatus[];
  /** How many routes are attached, by the id of the listener. */
  readonly attached: ReadonlyMap<string, number>;
};

/** Remembers the status of each Gateway until its listeners or the numbers of their routes change. */
export function createStatusBuilder(): (input: StatusInput) => GatewayStatuses {
  const ofClass = memo((object: ObjectOf<"GatewayClass">): GatewayClassStatus => ({
    object,
    conditions: [
      { type: "Accepted", status: "True", reason: "Accepted", message: "Gateways of this class are served" },
    ],
  }));
  type Entry = {
    readonly counts: string;
    readonly ports: Bindings;
    readonly statuses: StatusesOfGateway;
  };
  const known = new WeakMap<PlannedGateway, Entry>();
  return ({ classes, gateways, bindings, boundOf, routes, attached }) => {
    const ofGateways = gateways.map((planned) => {
      const counts = countsOf(planned, attached);
      const ports = bindings.of(planned);
      const last = known.get(planned);
      if (last?.counts === counts && last.ports === ports) return last.statuses;
      const statuses = build(planned, { attached, ports, bound: boundOf(planned) });
      known.set(planned, { counts, ports, statuses });
      return statuses;
    });
    return {
      classes: [...classes.values()].map(ofClass),
      gateways: ofGateways.map(({ gateway }) => gateway),
      listenerSets: ofGateways.flatMap(({ sets }) => sets),
      routes: routes.filter(({ parents }) => parents.length > 0),
    };
  };
}

type StatusesOfGateway = { readonly gateway: GatewayStatus; readonly sets: readonly ListenerSetStatus[] };

const countsOf = ({ own, sets }: PlannedGateway, attached: ReadonlyMap<string, number>): string =>
  [own, ...sets]
    .flatMap(({ listeners }) => listeners)
    .map(({ id }) => attached.get(id) ?? 0)
    .join(" ");

const build = (planned: PlannedGateway, facts: ListenerFacts): StatusesOfGateway => ({
  gateway: gatewayStatus(planned, facts),
  sets: planned.sets.flatMap((group) =>
    isOfSet(group) ? [listenerSetStatus(group, planned.gateway, facts)] : [],
  ),
});

const isOfSet = (
  group: ListenerGroup,
): group is ListenerGroup & { readonly owner: ObjectOf<"ListenerSet"> } => group.owner.kind === "ListenerSet";
