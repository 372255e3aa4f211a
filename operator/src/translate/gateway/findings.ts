/** What the statuses of Gateway API objects say that is wrong, as findings for `check`, `explain` and the log. */
import type { KubeObject } from "../../api/object.ts";
import { refOf } from "../../api/object.ts";
import type { DesiredCondition } from "../condition.ts";
import { conditionFinding, faultFinding, refusedParent, type Place } from "../diagnostics.ts";
import { memo } from "../memo.ts";
import type { Diagnostic } from "../translation.ts";
import type { GatewayStatus, ListenerSetStatus, RouteStatus } from "./status.ts";
import type { GatewayStatuses } from "./statuses.ts";

/** Of Gateways and ListenerSets: one finding for each condition that is not as its object wants it. */
export const describeStatuses = ({
  gateways,
  listenerSets,
}: Pick<GatewayStatuses, "gateways" | "listenerSets">): readonly Diagnostic[] =>
  [...gateways, ...listenerSets].flatMap(findingsOfListeners);

const findingsOfListeners = memo(
  ({ object, conditions, listeners }: GatewayStatus | ListenerSetStatus): readonly Diagnostic[] => [
    ...withoutRepeats(findings(object, undefined, conditions)),
    ...listeners.flatMap((listener, index) =>
      findings(object, `spec.listeners[${index}]`, listener.conditions),
    ),
  ],
);

/** Of a route with a parent of ours: parents that do not take it, and what is wrong with it at any parent. */
export const findingsOfRoute = memo(({ object, parents, faults }: RouteStatus): readonly Diagnostic[] => {
  if (parents.length === 0) return [];
  const references = object.spec.parentRefs ?? [];
  const at = (field: string): Place => ({ object: refOf(object), field });
  return [
    ...parents.flatMap(({ parentRef, refusal }) =>
      refusal === undefined
        ? []
        : [refusedParent(at(`spec.parentRefs[${references.indexOf(parentRef)}]`), refusal)],
    ),
    ...faults.map((fault) => faultFinding(at(fault.field), fault)),
  ];
});

function withoutRepeats(all: readonly Diagnostic[]): readonly Diagnostic[] {
  const first = new Map<string, Diagnostic>();
  for (const one of all) {
    const key = `${one.reason} ${one.message}`;
    if (!first.has(key)) first.set(key, one);
  }
  return [...first.values()];
}

const findings = (
  object: KubeObject,
  field: string | undefined,
  conditions: readonly DesiredCondition[],
): readonly Diagnostic[] =>
  conditions
    .filter(isBad)
    .map((condition) =>
      conditionFinding({ object: refOf(object), ...(field !== undefined && { field }) }, condition),
    );

/** Conditions of which `True` is the bad news. */
const abnormal: ReadonlySet<string> = new Set(["Conflicted", "PartiallyInvalid"]);

/** What a listener says itself is not told again of its Gateway. */
const isBad = ({ type, status, reason }: DesiredCondition): boolean =>
  type === "Accepted" && reason === "ListenersNotValid"
    ? status === "False"
    : reason !== "ListenersNotResolved" &&
      (status === "True") === abnormal.has(type) &&
      !(type === "Conflicted" && status === "True");
