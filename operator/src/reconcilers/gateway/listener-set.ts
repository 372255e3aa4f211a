import { isDeepStrictEqual } from "node:util";
import { mergeConditions } from "../../runtime/conditions.ts";
import type { StatusChange } from "../../runtime/status-writer.ts";
import type { Build } from "../../runtime/table-builder.ts";
import type { ListenerSetStatus } from "../../translate/gateway/status.ts";
import { memo } from "../../translate/memo.ts";
import type { Reconciler } from "../reconciler.ts";
import { statusReconciler, type DesiredStatus } from "../status-reconciler.ts";
import type { GatewayReconcilerOptions } from "./gateway.ts";
import { mergeListeners, programmedCondition } from "./listener-status.ts";
import { notProgrammed } from "./not-programmed.ts";

/** Condition types that this controller writes about a ListenerSet. */
const owned: ReadonlySet<string> = new Set(["Accepted", "Programmed"]);

type PresentStatus = { readonly conditions?: unknown; readonly listeners?: unknown };

/** Writes the status of ListenerSets of Gateways of ours (GEP-1713). */
export function listenerSetReconciler(options: Pick<GatewayReconcilerOptions, "fleet">): Reconciler {
  const desiredOf = memo((status: ListenerSetStatus): DesiredStatus => ({
    object: status.object,
    change: changeOf(status, options),
  }));
  const statusesOf = memo((sets: readonly ListenerSetStatus[]) => sets.map(desiredOf));
  return {
    ...statusReconciler({
      kind: "ListenerSet",
      statuses: ({ translation }: Build) => statusesOf(translation.gatewayStatuses.listenerSets),
      release: () => () => ({}),
    }),
    followsProxies: true,
  };
}

function changeOf(
  { object, bound, scope, conditions, listeners }: ListenerSetStatus,
  { fleet }: Pick<GatewayReconcilerOptions, "fleet">,
): StatusChange {
  const { generation } = object.metadata;
  const isRefused = conditions.some(({ type }) => type === "Programmed");
  return (current, nowMs) => {
    const present = (current ?? {}) as PresentStatus;
    const pending = notProgrammed({ bound, listeners, scope }, fleet);
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
      pendingOf: () => pending,
    });
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
