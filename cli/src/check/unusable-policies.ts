/** Policies that cannot be used and that no object names yet. See docs/cli.md, "check". */
import { refOf } from "@svc-gateway/operator/api/object.ts";
import { invalidityOf } from "@svc-gateway/operator/api/stand-in.ts";
import type { Diagnostic } from "@svc-gateway/operator/translate/finding.ts";
import type { Translation } from "@svc-gateway/operator/translate/translation.ts";

/**
 * A finding for each of them, with what a cluster says in the condition `Accepted`. Where an object names a policy, the
 * finding is that object's.
 */
export const findUnusablePolicies = ({
  policyStatuses,
}: Pick<Translation, "policyStatuses">): readonly Diagnostic[] =>
  policyStatuses.flatMap(({ object, conditions, use }): readonly Diagnostic[] => {
    const refusal = conditions.find(({ type, status }) => type === "Accepted" && status === "False");
    // What is wrong with an invalid one is a finding of where it was read.
    if (refusal === undefined || use.count > 0 || invalidityOf(object) !== undefined) return [];
    return [
      { object: refOf(object), severity: "error", reason: "UnusableResource", message: refusal.message },
    ];
  });
