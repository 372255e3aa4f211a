import type { DesiredCondition } from "../translate/condition.ts";
import { memo } from "../translate/memo.ts";
import type { PolicyAncestor, PolicyAttachment } from "../translate/translation.ts";
import { setAncestors } from "./policy-ancestors.ts";
import type { Reconciler } from "./reconciler.ts";
import { statusReconciler, type DesiredStatus } from "./status-reconciler.ts";

/** Writes `status.ancestors` of every SvcBackendPolicy (docs/features/backend-policy.md, "Status"). */
export function svcBackendPolicyReconciler({
  controllerName,
}: {
  readonly controllerName: string;
}): Reconciler {
  const statusOf = memo(({ object, ancestors }: PolicyAttachment): DesiredStatus => {
    const { generation } = object.metadata;
    return { object, change: setAncestors(controllerName, ancestors.map(ancestorOf), generation) };
  });
  const statusesOf = memo((attachments: readonly PolicyAttachment[]) => attachments.map(statusOf));
  return statusReconciler({
    kind: "SvcBackendPolicy",
    statuses: ({ translation }) => statusesOf(translation.backendPolicies),
    release: () => setAncestors(controllerName, [], undefined),
  });
}

const ancestorOf = ({ service, reason, message }: PolicyAncestor) => ({
  ref: { group: "", kind: "Service", ...service },
  conditions: [
    { type: "Accepted", status: reason === "Accepted" ? "True" : "False", reason, message },
  ] satisfies DesiredCondition[],
});
