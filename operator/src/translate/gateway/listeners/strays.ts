/** Gateways and ListenerSets that no controller will ever serve, because the object that they name does not exist. */
import { didYouMean } from "@svc-gateway/common/values/similar.ts";
import type { ObjectOf } from "../../../api/kinds.ts";
import { refOf } from "../../../api/object.ts";
import type { World } from "../../../world.ts";
import { gatewayClassNotFound, noKindOfParent, parentNotFound } from "../../diagnostics/gateway.ts";
import type { Diagnostic } from "../../finding.ts";
import { trackedMemo } from "../../incremental/memo.ts";
import { quoteKind } from "../../text.ts";
import { gatewayGroup, isMisnamedParent } from "../kinds.ts";
import { parentOf } from "./gateways.ts";

const none: readonly Diagnostic[] = [];

/** Finds strays. An object is checked again when it, or the object that it names, changes. */
export function createStrayFinder(
  isWatched: (namespace: string) => boolean,
): (world: World, isServed: (gateway: ObjectOf<"Gateway">) => boolean) => readonly Diagnostic[] {
  const ofGateway = trackedMemo(
    (gateway: ObjectOf<"Gateway">, classes: World["GatewayClass"], { lookup }) => {
      const { gatewayClassName } = gateway.spec;
      if (lookup("GatewayClass", "", gatewayClassName) !== undefined) return none;
      const place = { object: refOf(gateway), field: "spec.gatewayClassName" };
      const names = classes.map(({ metadata }) => metadata.name);
      return [gatewayClassNotFound(place, gatewayClassName, didYouMean(gatewayClassName, names))];
    },
  );
  const ofSet = trackedMemo((set: ObjectOf<"ListenerSet">, _: undefined, { lookup }) => {
    const parent = parentOf(set);
    const place = { object: refOf(set), field: "spec.parentRef" };
    const { group = gatewayGroup, kind = "Gateway" } = set.spec.parentRef;
    if (parent === undefined && (group === gatewayGroup || isMisnamedParent(group, kind)))
      return [noKindOfParent(place, quoteKind({ group, kind }))];
    if (parent === undefined || lookup("Gateway", parent.namespace, parent.name) !== undefined) return none;
    return [parentNotFound(place, `Gateway ${parent.namespace}/${parent.name}`, isWatched(parent.namespace))];
  });
  return (world, isServed) => [
    ...world.Gateway.flatMap((gateway) =>
      isServed(gateway) ? none : ofGateway(gateway, world.GatewayClass, world),
    ),
    ...world.ListenerSet.flatMap((set) => ofSet(set, undefined, world)),
  ];
}
