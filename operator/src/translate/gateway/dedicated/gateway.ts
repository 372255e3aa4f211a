import type { ObjectOf } from "../../../api/kinds.ts";
import { refOf } from "../../../api/object.ts";
import { podTemplateSanitized } from "../../events.ts";
import type { DesiredEvent } from "../../finding.ts";
import { memo } from "../../incremental/memo.ts";
import { requestedAddress } from "../addresses.ts";
import { infrastructureOf } from "../infrastructure.ts";
import { serviceAccountNames } from "../names.ts";
import type { PlacedGateway } from "../scopes/placement.ts";
import { portsOf } from "../scopes/ports.ts";
import { transportsOn } from "../scopes/vip-plan.ts";
import { planDedicated, type DedicatedPlanOptions, type Manifest } from "./plan.ts";

/** A Gateway with dedicated proxies, and how their objects are reconciled. */
export type DedicatedGateway = {
  readonly gateway: ObjectOf<"Gateway">;
  /** The ServiceAccount of its proxies, in its namespace. */
  readonly serviceAccount: string;
  /**
   * `wanted`: the objects are created and kept up to date. `leaving`: they remain until the shared proxies
   * serve the Gateway. `held`: they are not changed, because the request of the Gateway cannot be fulfilled.
   */
  readonly state: "wanted" | "leaving" | "held";
  /** The objects in the order in which they are created; empty unless they are wanted. */
  readonly objects: readonly Manifest[];
  /** Whether an existing Service is kept, although it is not among the objects. */
  readonly keepsService: boolean;
  readonly events: readonly DesiredEvent[];
};

/**
 * Plans the objects of each Gateway, and remembers them while the Gateway stays the same. `gateways` must
 * contain all Gateways, oldest first.
 */
export function createDedicatedPlanner(
  options: DedicatedPlanOptions,
): (gateways: readonly PlacedGateway[]) => readonly DedicatedGateway[] {
  const planOf = memo((placed: PlacedGateway) => {
    let last: DedicatedGateway | undefined;
    return (serviceAccount: string): DedicatedGateway =>
      last?.serviceAccount === serviceAccount
        ? last
        : (last = dedicatedGateway(placed, serviceAccount, options));
  });
  return (gateways) => {
    const own = gateways.filter(({ placement }) => placement.inDedicated);
    if (own.length === 0) return [];
    const accounts = serviceAccountNames(gateways.map(({ gateway }) => gateway));
    return own.map((placed) => planOf(placed)(accounts.get(placed.gateway) ?? ""));
  };
}

function dedicatedGateway(
  placed: PlacedGateway,
  serviceAccount: string,
  options: DedicatedPlanOptions,
): DedicatedGateway {
  const { gateway, placement } = placed;
  const { mode, parameters } = placement;
  const base = { gateway, serviceAccount };
  const image = parameters?.image ?? options.image;
  if (mode !== "dedicated" || parameters === undefined || image === undefined) {
    const state = mode === "shared" ? "leaving" : "held";
    return { ...base, state, objects: [], keepsService: true, events: [] };
  }
  const address = requestedAddress(gateway);
  const ports =
    address.unusable !== undefined
      ? []
      : portsOf(placed).flatMap((port) => transportsOn(placed, port).map((protocol) => ({ port, protocol })));
  const ignored = new Set([
    ...parameters.overlays.flatMap((overlay) => overlay.ignored),
    ...infrastructureOf(gateway).ignored,
  ]);
  return {
    ...base,
    state: "wanted",
    objects: planDedicated({ gateway, serviceAccount, parameters, ports, address }, image, options),
    // A released address might never be assigned again, so the Service outlasts periods without a serving
    // listener.
    keepsService: ports.length === 0,
    events: ignored.size === 0 ? [] : [podTemplateSanitized(refOf(gateway), [...ignored])],
  };
}
