import { isDeepStrictEqual } from "node:util";
import { nameOf, refOf } from "../../api/object.ts";
import type { Build } from "../../build/table-builder.ts";
import type { ListenerSetStatus } from "../../translate/gateway/status/object-status.ts";
import { listMemo, memo } from "../../translate/incremental/memo.ts";
import { mergeConditions } from "../../write/conditions.ts";
import type { StatusChange } from "../../write/status-writer.ts";
import type { Reconciler } from "../reconciler.ts";
import { statusReconciler, type DesiredStatus } from "../status-reconciler.ts";
import type { GatewayReconcilerOptions } from "./gateway.ts";
import { mergeListeners, programmedCondition } from "./listener-status.ts";
import { noAddress, notProgrammed, pendingListener } from "./not-programmed.ts";
import { isPending, withProxyWaiters, type ProxyWaiters } from "./proxy-waiters.ts";

/** Condition types that this controller writes about a ListenerSet. */
const owned: ReadonlySet<string> = new Set(["Accepted", "Programmed"]);

type PresentStatus = { readonly conditions?: unknown; readonly listeners?: unknown };

type ListenerSetReconcilerOptions = Pick<GatewayReconcilerOptions, "addressesOf" | "fleet" | "subscribe">;

/** Writes the status of ListenerSets of our Gateways (GEP-1713). */
export const listenerSetReconciler = (options: ListenerSetReconcilerOptions): Reconciler =>
  withProxyWaiters((waiters) => createReconciler(options, waiters));

function createReconciler(options: ListenerSetReconcilerOptions, waiters: ProxyWaiters): Reconciler {
  const { addressesOf, subscribe } = options;
  const desiredOf = memo((status: ListenerSetStatus) => {
    const where = (hasAddress: boolean): DesiredStatus => ({
      object: status.object,
      change: changeOf(status, hasAddress, { ...options, waiters }),
    });
    return { reached: where(true), unreached: where(false) };
  });
  const listOf = listMemo((statuses: readonly DesiredStatus[]) => statuses);
  let sets: readonly ListenerSetStatus[] = [];
  return {
    ...statusReconciler({
      kind: "ListenerSet",
      statuses({ world, translation: { gatewayStatuses } }: Build) {
        sets = gatewayStatuses.listenerSets;
        const parents = new Map(
          sets.length === 0 ? [] : gatewayStatuses.gateways.map((one) => [one.object, one]),
        );
        const hasAddress = ({ gateway }: ListenerSetStatus): boolean => {
          const parent = parents.get(gateway);
          return parent !== undefined && addressesOf.present(parent, world).addresses.length > 0;
        };
        return listOf(
          sets.map((set) => desiredOf(set)[hasAddress(set) ? "reached" : "unreached"]),
          undefined,
        );
      },
      // released-sets.ts decides about the statuses of other sets.
      release: () => () => ({}),
    }),
    subscribe: (look) =>
      subscribe((gateway) => {
        for (const set of sets) if (nameOf(refOf(set.gateway)) === gateway) look(nameOf(refOf(set.object)));
      }),
  };
}

function changeOf(
  { object, bound, scope, conditions, listeners }: ListenerSetStatus,
  hasAddress: boolean,
  { fleet, waiters }: Pick<GatewayReconcilerOptions, "fleet"> & { readonly waiters: ProxyWaiters },
): StatusChange {
  const { generation } = object.metadata;
  const isRefused = conditions.some(({ type }) => type === "Programmed");
  return (current, nowMs) => {
    const present = (current ?? {}) as PresentStatus;
    const pending = hasAddress ? notProgrammed({ bound, listeners, scope }, fleet) : noAddress;
    const programmed = programmedCondition({
      present: present.conditions,
      generation,
      refusal: listeners.every(({ unprogrammable }) => unprogrammable !== undefined)
        ? { reason: "ListenersNotValid", message: "No listener can be served" }
        : undefined,
      pending,
    });
    const merged = mergeListeners(present.listeners, listeners, {
      generation,
      nowMs,
      pendingOf: (listener) => pendingListener(listener, pending),
    });
    const isWaiting = isPending([programmed]) || merged.some(({ conditions: one }) => isPending(one));
    waiters.note(nameOf(refOf(object)), isWaiting);
    return {
      conditions: mergeConditions({
        current: present.conditions,
        desired: isRefused ? conditions : [...conditions, programmed],
        owned,
        generation,
        nowMs,
      }),
      ...(!isDeepStrictEqual(present.listeners ?? [], merged) && { listeners: merged }),
    };
  };
}
