import type { DesiredCondition, ConditionReason } from "../../translate/condition.ts";
import type { ListenerStatus } from "../../translate/gateway/status/object-status.ts";
import { mergeConditions } from "../../write/conditions.ts";

/** The part of a present listener status that is read. */
export type PresentListener = { readonly name?: string; readonly conditions?: unknown };

/** Condition types that this controller writes about a listener. */
const owned: ReadonlySet<string> = new Set([
  "Accepted",
  "Programmed",
  "ResolvedRefs",
  "Conflicted",
  "OverlappingTLSConfig",
]);

export type ProgrammedInput = {
  readonly present: unknown;
  readonly generation: number | undefined;
  /** The reason why the listener can never be programmed in its present form. */
  readonly refusal: ConditionReason | undefined;
  /** The reason why the listener still waits. */
  readonly pending: ConditionReason | undefined;
};

/**
 * The condition `Programmed`. Once it is true for a generation, it remains so. Until then it is reported for the
 * previous generation, which shows that it is not final for this one (docs/gateway-api.md, "Programmed").
 */
export function programmedCondition({
  present,
  generation,
  refusal,
  pending,
}: ProgrammedInput): DesiredCondition {
  if (refusal !== undefined) return { type: "Programmed", status: "False", ...refusal };
  if (pending === undefined || isProgrammed(present, generation)) {
    return {
      type: "Programmed",
      status: "True",
      reason: "Programmed",
      message: "Programmed on all proxies",
    };
  }
  const before = generation === undefined ? undefined : Math.max(0, generation - 1);
  return {
    type: "Programmed",
    status: "False",
    ...pending,
    ...(before !== undefined && { observedGeneration: before }),
  };
}

type PresentCondition = {
  readonly type?: unknown;
  readonly status?: unknown;
  readonly observedGeneration?: unknown;
};

function isProgrammed(present: unknown, generation: number | undefined): boolean {
  const conditions = Array.isArray(present) ? (present as readonly PresentCondition[]) : [];
  return conditions.some(
    ({ type, status, observedGeneration }) =>
      type === "Programmed" && status === "True" && observedGeneration === generation,
  );
}

/**
 * The statuses of the listeners, based on the present ones of the same name; those of removed listeners are dropped.
 */
export function mergeListeners(
  present: unknown,
  listeners: readonly ListenerStatus[],
  options: {
    readonly generation: number | undefined;
    readonly nowMs: number;
    readonly pendingOf: (listener: ListenerStatus) => ConditionReason | undefined;
  },
): readonly { readonly conditions: readonly unknown[] }[] {
  const { generation, nowMs, pendingOf } = options;
  const before = Array.isArray(present) ? (present as readonly PresentListener[]) : [];
  return listeners.map((listener) => {
    const { name, supportedKinds, attachedRoutes, conditions, unprogrammable } = listener;
    const current = before.find((one) => one.name === name)?.conditions;
    const programmed = programmedCondition({
      present: current,
      generation,
      refusal: unprogrammable,
      pending: pendingOf(listener),
    });
    return {
      name,
      supportedKinds,
      attachedRoutes,
      conditions: mergeConditions({
        current,
        desired: [...conditions, programmed],
        owned,
        generation,
        nowMs,
      }),
    };
  });
}
