import { newestGeneration } from "../api/stand-in.ts";
import type { DesiredCondition } from "../translate/condition.ts";
import { memo } from "../translate/incremental/memo.ts";
import type { PolicyAncestor, PolicyAttachment, PolicyKind } from "../translate/policy-ancestors.ts";
import type { Translation } from "../translate/translation.ts";
import type { StatusChange } from "../write/status-writer.ts";
import { setAncestors } from "./policy-ancestors.ts";
import { statusReconciler, type DesiredStatus, type StatusReconciler } from "./status-reconciler.ts";

/**
 * Writes `status.ancestors` of all policies of a kind (Gateway API, PolicyStatus). `controllerName` identifies our
 * entries. `attachmentsOf` can also return policies of other kinds, which are ignored.
 */
export function policyReconciler(
  kind: PolicyKind,
  controllerName: string,
  attachmentsOf: (translation: Translation) => readonly PolicyAttachment[],
): StatusReconciler {
  const statusOf = memo((attachment: PolicyAttachment): DesiredStatus => ({
    object: attachment.object,
    change: setPolicyAncestors(controllerName, attachment),
  }));
  const statusesOf = memo((attachments: readonly PolicyAttachment[]) =>
    attachments.filter(({ object }) => object.kind === kind).map(statusOf),
  );
  return statusReconciler({
    kind,
    statuses: ({ translation }) => statusesOf(attachmentsOf(translation)),
    release: () => setAncestors(controllerName, [], undefined),
  });
}

/** Updates our entries of `status.ancestors` according to an attachment. */
export const setPolicyAncestors = (
  controllerName: string,
  { object, ancestors }: PolicyAttachment,
): StatusChange => setAncestors(controllerName, ancestors.map(ancestorOf), newestGeneration(object));

const ancestorOf = ({ target, reason, message }: PolicyAncestor) => ({
  ref: target,
  conditions: [
    { type: "Accepted", status: reason === "Accepted" ? "True" : "False", reason, message },
  ] satisfies DesiredCondition[],
});
