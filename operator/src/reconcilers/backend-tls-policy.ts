import { newestGeneration } from "../api/stand-in.ts";
import { gatewayGroup } from "../translate/gateway/kinds.ts";
import { memo } from "../translate/incremental/memo.ts";
import type { BackendTlsAttachment } from "../translate/policy-ancestors.ts";
import { setAncestors } from "./policy-ancestors.ts";
import type { Reconciler } from "./reconciler.ts";
import { statusReconciler, type DesiredStatus } from "./status-reconciler.ts";

/** Writes `status.ancestors` of every BackendTLSPolicy (docs/features/backend-tls.md, "Status"). */
export function backendTlsPolicyReconciler({
  controllerName,
}: {
  readonly controllerName: string;
}): Reconciler {
  const statusOf = memo(({ object, ancestors }: BackendTlsAttachment): DesiredStatus => {
    const desired = ancestors.map(({ gateway, conditions }) => ({
      ref: { group: gatewayGroup, kind: "Gateway", ...gateway },
      conditions,
    }));
    return { object, change: setAncestors(controllerName, desired, newestGeneration(object)) };
  });
  const statusesOf = memo((attachments: readonly BackendTlsAttachment[]) => attachments.map(statusOf));
  return statusReconciler({
    kind: "BackendTLSPolicy",
    statuses: ({ translation }) => statusesOf(translation.backendTlsPolicies),
    release: () => setAncestors(controllerName, [], undefined),
  });
}
