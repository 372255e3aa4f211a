/** ListenerSets whose Gateway does not exist. See docs/gateway-api.md, "ListenerSets without a Gateway". */
import type { NamespacedName } from "@svc-gateway/common/values/namespaced-name.ts";
import type { ObjectOf } from "../../../api/kinds.ts";
import type { World } from "../../../world.ts";
import { listMemo, trackedMemo } from "../../incremental/memo.ts";
import { parentOf } from "./gateways.ts";

export type ParentlessSet = {
  readonly object: ObjectOf<"ListenerSet">;
  /** The Gateway that `spec.parentRef` names. */
  readonly gateway: NamespacedName;
};

/**
 * Finds the parentless sets. Those whose Gateway would be in a namespace that is not served are omitted: whether it
 * exists is unknown. The list, and each entry, is the same value until it changes.
 */
export function createParentlessSetFinder(
  isWatched: (namespace: string) => boolean,
): (world: World) => readonly ParentlessSet[] {
  const read = trackedMemo(
    (object: ObjectOf<"ListenerSet">, _: undefined, { lookup }): ParentlessSet | undefined => {
      const gateway = parentOf(object);
      if (gateway === undefined || !isWatched(gateway.namespace)) return undefined;
      return lookup("Gateway", gateway.namespace, gateway.name) === undefined
        ? { object, gateway }
        : undefined;
    },
  );
  const listOf = listMemo((sets: readonly ParentlessSet[]) => sets);
  return (world) =>
    listOf(
      world.ListenerSet.flatMap((set) => read(set, undefined, world) ?? []),
      undefined,
    );
}
