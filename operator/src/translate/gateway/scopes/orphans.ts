/** Gateways that were served and whose class was deleted. See docs/gateway-api.md, "Classes". */
import type { ObjectOf } from "../../../api/kinds.ts";
import type { World } from "../../../world.ts";
import { trackedMemo } from "../../incremental/memo.ts";
import { hasSharedService, hasOwnService, type PlacementSettings } from "./placement.ts";

/**
 * Whether this controller has served a Gateway whose class does not exist: then it has a Service of this controller,
 * and everything that serves it stays. A class of another controller is no such case.
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
