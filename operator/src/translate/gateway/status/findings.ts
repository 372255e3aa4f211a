/** Derives findings for `check`, `explain` and the log from faults in the statuses of Gateway API objects. */
import { refOf } from "../../../api/object.ts";
import type { DesiredCondition } from "../../condition.ts";
import type { Place } from "../../diagnostics/define-finding.ts";
import { conditionFinding, faultFinding, refusedParent } from "../../diagnostics/gateway.ts";
import type { Diagnostic } from "../../finding.ts";
import { memo } from "../../incremental/memo.ts";
import type { GatewayStatus, ListenerSetStatus, RouteStatus } from "./object-status.ts";
import type { GatewayStatuses } from "./statuses.ts";

/** The findings of Gateways and ListenerSets: one for each condition that reports a fault. */
export const describeStatuses = ({
  gateways,
  listenerSets,
}: Pick<GatewayStatuses, "gateways" | "listenerSets">): readonly Diagnostic[] =>
  [...gateways, ...listenerSets].flatMap(findingsOfListeners);

/**
 * Reasons of conditions that take the whole object out of service. With other reasons, what is already served
 * can remain.
 */
const outOfService: ReadonlySet<string> = new Set([
  "ListenersNotValid",
  "NoValidCACertificate",
  "NotAllowed",
]);

const findingsOfListeners = memo(
  ({ object, conditions, listeners }: GatewayStatus | ListenerSetStatus): readonly Diagnostic[] => {
    const ref = refOf(object);
    const isOut = conditions.some(({ status, reason }) => status === "False" && outOfService.has(reason));
    const consequence = isOut ? `the ${object.kind} is not served` : undefined;
    return [
      ...withoutRepeats(findings({ object: ref }, conditions, consequence)),
      ...listeners.flatMap(({ name, conditions: own, unprogrammable }, index) =>
        findings(
          { object: ref, field: `spec.listeners[${index}]` },
          own,
          unprogrammable === undefined ? undefined : `listener ${name} is not served`,
        ),
      ),
    ];
  },
);

/**
 * The findings of a route with a parent of this controller: parents that do not accept it, and its faults at every
 * parent.
 */
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
  place: Place,
  conditions: readonly DesiredCondition[],
  consequence: string | undefined,
): readonly Diagnostic[] =>
  conditions.filter(isBad).map((condition) => conditionFinding(place, condition, consequence));

/** Conditions whose abnormal status is `True`. */
const abnormal: ReadonlySet<string> = new Set(["Conflicted", "PartiallyInvalid"]);

/**
 * Whether a condition reports a fault of its own. Faults that listeners report themselves are not repeated for
 * their Gateway.
 */
const isBad = ({ type, status, reason }: DesiredCondition): boolean =>
  type === "Accepted" && reason === "ListenersNotValid"
    ? status === "False"
    : (status === "True") === abnormal.has(type) && !(type === "Conflicted" && status === "True");
