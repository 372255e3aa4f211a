/** Which GatewayClasses are ours. See docs/gateway-api.md, "Classes". */
import type { ObjectOf } from "../../../api/kinds.ts";
import type { World } from "../../../world.ts";
import { listMemo } from "../../incremental/memo.ts";

/** The classes of this controller by name; the same map while they stay the same objects. */
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
