import { conditionOf, type DesiredCondition } from "../condition.ts";
import { joinSentences } from "../text.ts";
import type { NamedPolicyKind } from "./kinds.ts";
import type { PolicyProblems } from "./problems.ts";

/** The kinds whose objects refer to others that may be missing. */
const referringKinds: ReadonlySet<NamedPolicyKind> = new Set([
  "BasicAuth",
  "JwtAuth",
  "RouteOptions",
  "SvcExternalAuth",
]);

/** The conditions of a policy. */
export function conditionsOf(
  kind: NamedPolicyKind,
  { unresolved, unusable, ignored }: PolicyProblems,
): readonly DesiredCondition[] {
  const refusal =
    unusable.length === 0
      ? undefined
      : { reason: "Invalid", message: joinSentences([...unusable, ...ignored]) };
  const accepted =
    ignored.length === 0
      ? "The policy is valid"
      : `The policy is valid, except for this: ${joinSentences(ignored)}`;
  return [
    conditionOf("Accepted", refusal, { reason: "Accepted", message: accepted }),
    ...(referringKinds.has(kind)
      ? [
          conditionOf("ResolvedRefs", unresolved, {
            reason: "ResolvedRefs",
            message: "All references are resolved",
          }),
        ]
      : []),
  ];
}
