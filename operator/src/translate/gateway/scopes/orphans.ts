/** Gateways that were served before their class was deleted. See docs/gateway-api.md, "Classes". */
import type { ObjectOf } from "../../../api/kinds.ts";
import type { World } from "../../../world.ts";
import { trackedMemo } from "../../incremental/memo.ts";
import { hasSharedService, hasOwnService, type PlacementSettings } from "./placement.ts";

/**
 * Finds Gateways whose class does not exist and that this controller has served. They still have a Service of this
 * controller, and everything that serves them is kept. Gateways of a class of another controller are not orphans.
 */
export function createOrphanFinder(
  settings: PlacementSettings,
): (gateway: ObjectOf<"Gateway">, world: World) => boolean {
  const isOrphan = trackedMemo(
    (gateway: ObjectOf<"Gateway">, _: undefined, view) =>
      view.lookup("GatewayClass", "", gateway.spec.gatewayClassName) === undefined &&
      (hasSharedService(gateway, view, settings) || hasOwnService(gateway, view, settings)),
  );
  return (gateway, world) => isOrphan(gateway, undefined, world);
}
