/** Selects the GatewayClasses of this controller. See docs/gateway-api.md, "Classes". */
import type { ObjectOf } from "../../../api/kinds.ts";
import type { World } from "../../../world.ts";
import { listMemo } from "../../incremental/memo.ts";

/** Returns the classes of this controller by name. The map is the same while they stay the same objects. */
export function createGatewayClassReader(
  controllerName: string,
): (world: World) => ReadonlyMap<string, ObjectOf<"GatewayClass">> {
  const index = listMemo(
    (classes: readonly ObjectOf<"GatewayClass">[]) => new Map(classes.map((one) => [one.metadata.name, one])),
  );
  return (world) =>
    index(
      world.GatewayClass.filter(({ spec }) => spec.controllerName === controllerName),
      undefined,
    );
}
