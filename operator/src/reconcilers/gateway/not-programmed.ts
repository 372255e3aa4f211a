import type { Fleet } from "../../discovery/fleet.ts";
import type { ConditionReason } from "../../translate/condition.ts";
import type { GatewayStatus } from "../../translate/gateway/status/object-status.ts";

/** The reason of a listener whose Gateway has no address; the condition of the Gateway reports what is missing. */
export const noAddress: ConditionReason = { reason: "Pending", message: "The Gateway has no address yet" };

/** The reason why a Gateway is not yet served by all intended proxies; undefined if it is. */
export function notProgrammed(
  { bound, listeners, scope }: Pick<GatewayStatus, "bound" | "listeners" | "scope">,
  fleet: Pick<Fleet, "isProgrammed">,
): ConditionReason | undefined {
  if (bound === undefined) return { reason: "Pending", message: "No listener is served" };
  const isInPlace = fleet.isProgrammed({
    scope,
    resources: [[bound.key, bound.hash]],
    ports: listeners.flatMap(({ port }) => port ?? []),
  });
  return isInPlace ? undefined : { reason: "Pending", message: "Not all proxies have bound its ports" };
}
