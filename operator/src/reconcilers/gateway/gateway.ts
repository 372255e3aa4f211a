import { isDeepStrictEqual } from "node:util";
import { nameOf, refOf } from "../../api/object.ts";
import type { Build } from "../../build/table-builder.ts";
import type { Fleet } from "../../discovery/fleet.ts";
import { conditionOf, type DesiredCondition } from "../../translate/condition.ts";
import type { GatewayStatus } from "../../translate/gateway/status/object-status.ts";
import { listMemo, memo } from "../../translate/incremental/memo.ts";
import { mergeConditions } from "../../write/conditions.ts";
import type { StatusChange } from "../../write/status-writer.ts";
import type { Reconciler } from "../reconciler.ts";
import { statusReconciler, type DesiredStatus } from "../status-reconciler.ts";
import type { AddressesOf, GatewayAddresses } from "./address.ts";
import type { Handover } from "./handover.ts";
import { mergeListeners, programmedCondition } from "./listener-status.ts";
import { noAddress, notProgrammed, pendingListener } from "./not-programmed.ts";
import { isPending, withProxyWaiters, type ProxyWaiters } from "./proxy-waiters.ts";

export type GatewayReconcilerOptions = {
  readonly addressesOf: AddressesOf;
  readonly fleet: Pick<Fleet, "isProgrammed">;
  readonly handover: Pick<Handover, "notReady">;
  /** Returns a message if an object of the Gateway (`namespace/name`) has another owner. */
  readonly takenOf?: (name: string) => string | undefined;
  /** Calls back with a Gateway (`namespace/name`) whose addresses or proxies may have changed. */
  readonly subscribe: (look: (name: string) => void) => () => void;
};

/** The condition for whether dedicated proxies serve the Gateway. */
const dedicatedProxyReady = "gateway.svc-labs.dev/DedicatedProxyReady";

/** Condition types that this controller writes about a Gateway. */
const owned: ReadonlySet<string> = new Set([
  "Accepted",
  "Programmed",
  "AddressesAssigned",
  "ResolvedRefs",
  "InsecureFrontendValidationMode",
  dedicatedProxyReady,
]);

type PresentStatus = {
  readonly conditions?: unknown;
  readonly listeners?: unknown;
  readonly addresses?: unknown;
  readonly attachedListenerSets?: unknown;
};

/** Writes the status of our Gateways (docs/gateway-api.md, "Conditions"). */
export const gatewayReconciler = (options: GatewayReconcilerOptions): Reconciler =>
  withProxyWaiters((waiters) => createReconciler(options, waiters));

function createReconciler(options: GatewayReconcilerOptions, waiters: ProxyWaiters): Reconciler {
  const { addressesOf, subscribe } = options;
  const desiredOf = memo((status: GatewayStatus) =>
    memo((addresses: GatewayAddresses): DesiredStatus => ({
      object: status.object,
      change: changeOf(status, addresses, { ...options, waiters }),
    })),
  );
  const listOf = listMemo((statuses: readonly DesiredStatus[]) => statuses);
  return {
    ...statusReconciler({
      kind: "Gateway",
      statuses: ({ world, translation }: Build) =>
        listOf(
          translation.gatewayStatuses.gateways.map((status) =>
            desiredOf(status)(addressesOf.present(status, world)),
          ),
          undefined,
        ),
      // The controller that now serves the Gateway writes its status.
      release: () => () => ({}),
    }),
    subscribe,
  };
}

function changeOf(
  status: GatewayStatus,
  { addresses, assignment, pending: addressPending, refusal: addressRefusal }: GatewayAddresses,
  {
    fleet,
    handover,
    takenOf = () => undefined,
    waiters,
  }: GatewayReconcilerOptions & { readonly waiters: ProxyWaiters },
): StatusChange {
  const { generation } = status.object.metadata;
  return (current, nowMs) => {
    const present = (current ?? {}) as PresentStatus;
    const pending = notProgrammed(status, fleet);
    const taken = takenOf(nameOf(refOf(status.object)));
    const programmed = programmedCondition({
      present: present.conditions,
      generation,
      refusal: status.listeners.every(({ unprogrammable }) => unprogrammable !== undefined)
        ? { reason: "Invalid", message: status.placement.refusal?.message ?? "No listener can be served" }
        : taken !== undefined
          ? { reason: "Invalid", message: taken }
          : addressRefusal,
      pending: addressPending ?? pending,
    });
    const listeners = mergeListeners(present.listeners, status.listeners, {
      generation,
      nowMs,
      pendingOf: (listener) => pendingListener(listener, addresses.length === 0 ? noAddress : pending),
    });
    // Gateways with dedicated proxies also report whether these serve.
    const waits = status.placement.inDedicated || programmed.reason === "Pending";
    waiters.note(
      nameOf(refOf(status.object)),
      waits || listeners.some(({ conditions }) => isPending(conditions)),
    );
    return {
      conditions: mergeConditions({
        current: present.conditions,
        desired: [
          ...status.conditions,
          programmed,
          ...(assignment === undefined ? [] : [assignment]),
          ...readiness(status, handover),
        ],
        owned,
        generation,
        nowMs,
      }),
      ...(!isDeepStrictEqual(present.listeners, listeners) && { listeners }),
      ...(!isDeepStrictEqual(present.addresses ?? [], addresses) && { addresses }),
      // Definitions without the field drop it, so a missing field equals zero.
      ...(status.attachedListenerSets !== (present.attachedListenerSets ?? 0) && {
        attachedListenerSets: status.attachedListenerSets,
      }),
    };
  };
}

/** The readiness of dedicated proxies, for Gateways that have them, will get them or still have them. */
function readiness(
  status: GatewayStatus,
  handover: GatewayReconcilerOptions["handover"],
): readonly DesiredCondition[] {
  if (!status.placement.inDedicated) return [];
  const ready = { reason: "Ready", message: "Served by dedicated proxies" };
  return [conditionOf(dedicatedProxyReady, handover.notReady(status), ready)];
}
