import { isDeepStrictEqual } from "node:util";
import type { Fleet } from "../../discovery/fleet.ts";
import { mergeConditions } from "../../runtime/conditions.ts";
import type { StatusChange } from "../../runtime/status-writer.ts";
import type { Build } from "../../runtime/table-builder.ts";
import type { Refusal } from "../../translate/condition.ts";
import type { GatewayStatus } from "../../translate/gateway/status.ts";
import { listMemo, memo } from "../../translate/memo.ts";
import type { World } from "../../world.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import type { Reconciler } from "../reconciler.ts";
import { statusReconciler, type DesiredStatus } from "../status-reconciler.ts";
import type { GatewayAddresses } from "./address.ts";
import { mergeListeners, programmedCondition } from "./listener-status.ts";

export type GatewayReconcilerOptions = {
  readonly addressesOf: (gateway: ObjectOf<"Gateway">, world: World) => GatewayAddresses;
  readonly fleet: Pick<Fleet, "isProgrammed">;
};

/** Condition types that this controller writes about a Gateway. */
const owned: ReadonlySet<string> = new Set([
  "Accepted",
  "Programmed",
  "ResolvedRefs",
  "InsecureFrontendValidationMode",
]);

type PresentStatus = {
  readonly conditions?: unknown;
  readonly listeners?: unknown;
  readonly addresses?: unknown;
  readonly attachedListenerSets?: unknown;
};

/** Writes the status of Gateways of ours (docs/gateway-api.md, "Conditions"). */
export function gatewayReconciler({ addressesOf, fleet }: GatewayReconcilerOptions): Reconciler {
  const desiredOf = memo((status: GatewayStatus) =>
    memo((addresses: GatewayAddresses): DesiredStatus => ({
      object: status.object,
      change: changeOf(status, addresses, fleet),
    })),
  );
  const listOf = listMemo((statuses: readonly DesiredStatus[]) => statuses);
  return {
    ...statusReconciler({
      kind: "Gateway",
      statuses: ({ world, translation }: Build) =>
        listOf(
          translation.gatewayStatuses.gateways.map((status) =>
            desiredOf(status)(addressesOf(status.object, world)),
          ),
          undefined,
        ),
      // Whoever serves it now writes what it says.
      release: () => () => ({}),
    }),
    followsProxies: true,
  };
}

function changeOf(
  status: GatewayStatus,
  { addresses, pending: addressPending }: GatewayAddresses,
  fleet: Pick<Fleet, "isProgrammed">,
): StatusChange {
  const { generation } = status.object.metadata;
  return (current, nowMs) => {
    const present = (current ?? {}) as PresentStatus;
    const pending = notProgrammed(status, fleet);
    const programmed = programmedCondition({
      present: present.conditions,
      generation,
      refusal: status.listeners.every(({ unprogrammable }) => unprogrammable !== undefined)
        ? { reason: "Invalid", message: "No listener can be served" }
        : undefined,
      pending: addressPending ?? pending,
    });
    const listeners = mergeListeners(present.listeners, status.listeners, {
      generation,
      nowMs,
      pendingOf: ({ port }) => (port === undefined ? noPort : pending),
    });
    return {
      conditions: mergeConditions({
        current: present.conditions,
        desired: [...status.conditions, programmed],
        owned,
        generation,
        nowMs,
      }),
      ...(!isDeepStrictEqual(present.listeners, listeners) && { listeners }),
      ...(!isDeepStrictEqual(present.addresses ?? [], addresses) && { addresses }),
      // Definitions that do not know the field drop it: a zero is not insisted on.
      ...(status.attachedListenerSets !== (present.attachedListenerSets ?? 0) && {
        attachedListenerSets: status.attachedListenerSets,
      }),
    };
  };
}

const noPort: Refusal = { reason: "Pending", message: "No internal port is left for it" };

/** What keeps a Gateway from being served by all proxies. */
export function notProgrammed(
  { bound, listeners }: Pick<GatewayStatus, "bound" | "listeners">,
  fleet: Pick<Fleet, "isProgrammed">,
): Refusal | undefined {
  if (bound === undefined) return { reason: "Pending", message: "No listener is served" };
  const isInPlace = fleet.isProgrammed({
    scope: { kind: "shared" },
    resources: [[bound.key, bound.hash]],
    ports: listeners.flatMap(({ port }) => port ?? []),
  });
  return isInPlace ? undefined : { reason: "Pending", message: "Not all proxies have bound its ports" };
}
