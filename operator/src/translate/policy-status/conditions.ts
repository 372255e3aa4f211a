import { conditionOf, type DesiredCondition } from "../condition.ts";
import type { NamedPolicyKind } from "./kinds.ts";
import type { PolicyProblems } from "./problems.ts";

/** The kinds whose objects refer to others that may be missing. */
const referringKinds: ReadonlySet<NamedPolicyKind> = new Set([
  "BasicAuth",
  "JwtAuth",
  "RouteOptions",
  "SvcExternalAuth",
]);

/** Sentences of one message, and characters of each. */
const maxSentences = 5;
const maxSentenceLength = 500;

/** What the conditions of a policy say. */
export function conditionsOf(
  kind: NamedPolicyKind,
  { unresolved, unusable, ignored }: PolicyProblems,
): readonly DesiredCondition[] {
  const refusal =
    unusable.length === 0 ? undefined : { reason: "Invalid", message: join([...unusable, ...ignored]) };
  const accepted =
    ignored.length === 0 ? "The policy is valid" : `The policy is valid, except for this: ${join(ignored)}`;
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

const join = (sentences: readonly string[]): string => {
  const shown = sentences.slice(0, maxSentences).map((text) => text.slice(0, maxSentenceLength));
  const more = sentences.length - shown.length;
  return more === 0 ? shown.join("; ") : `${shown.join("; ")}; and ${more} more`;
};
