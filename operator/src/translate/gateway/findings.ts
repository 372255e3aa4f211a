/** What the statuses of Gateway API objects say that is wrong, as findings for `check`, `explain` and the log. */
import type { KubeObject } from "../../api/object.ts";
import { refOf } from "../../api/object.ts";
import type { DesiredCondition } from "../condition.ts";
import { conditionFinding } from "../diagnostics.ts";
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

/** The same for a route, at each of its parents. */
export const findingsOfRoute = memo(({ object, parents }: RouteStatus): readonly Diagnostic[] => {
  const references = object.spec.parentRefs ?? [];
  // What is wrong with the route itself is wrong at every parent.
  return withoutRepeats(
    parents.flatMap(({ parentRef, conditions }) =>
      findings(object, `spec.parentRefs[${references.indexOf(parentRef)}]`, conditions),
    ),
  );
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
