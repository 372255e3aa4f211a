import type { Fleet } from "../../discovery/fleet.ts";
import type { ConditionReason } from "../../translate/condition.ts";
import type { GatewayStatus, ListenerStatus } from "../../translate/gateway/status/object-status.ts";

/** The reason of a listener whose Gateway has no address; the condition of the Gateway reports what is missing. */
export const noAddress: ConditionReason = { reason: "Pending", message: "The Gateway has no address yet" };

/**
 * The reason why a Gateway or ListenerSet with these listeners is not yet served by all intended proxies; undefined if
 * it is. `bound` is the resource of the Gateway: its hash differs in each generation, so a proxy that has acknowledged
 * it serves the present one.
 */
export function notProgrammed(
  { bound, listeners, scope }: Pick<GatewayStatus, "bound" | "listeners" | "scope">,
  fleet: Pick<Fleet, "isProgrammed">,
): ConditionReason | undefined {
  const servable = listeners.filter(({ unprogrammable }) => unprogrammable === undefined);
  if (servable.length > 0 && servable.every(({ port }) => port === undefined)) return noPorts;
  if (bound === undefined) return { reason: "Pending", message: "No listener is served" };
  const isInPlace = fleet.isProgrammed({
    scope,
    resources: [[bound.key, bound.hash]],
    ports: listeners.flatMap(({ port }) => port ?? []),
  });
  return isInPlace ? undefined : notServed;
}

/** The reason why a listener is pending, if `pending` is the reason of those that proxies can bind. */
export const pendingListener = (
  { port }: Pick<ListenerStatus, "port">,
  pending: ConditionReason | undefined,
): ConditionReason | undefined => (port === undefined ? noPort : pending);

const notServed: ConditionReason = {
  reason: "Pending",
  message: "Not all proxies have acknowledged the present generation and bound its ports",
};
const noPort: ConditionReason = { reason: "Pending", message: "No internal port is left for this listener" };
const noPorts: ConditionReason = { reason: "Pending", message: "No internal port is left for its listeners" };
