/** Finds unusable policies that no object names. See docs/cli.md, "check". */
import { refOf } from "@svc-gateway/operator/api/object.ts";
import { invalidityOf } from "@svc-gateway/operator/api/stand-in.ts";
import type { Diagnostic } from "@svc-gateway/operator/translate/finding.ts";
import type { Translation } from "@svc-gateway/operator/translate/translation.ts";

/**
 * Returns a finding for each unusable policy, with the message of its condition `Accepted`. If an object names the
 * policy, the finding is about that object instead.
 */
export const findUnusablePolicies = ({
  policyStatuses,
}: Pick<Translation, "policyStatuses">): readonly Diagnostic[] =>
  policyStatuses.flatMap(({ object, conditions, use }): readonly Diagnostic[] => {
    const refusal = conditions.find(({ type, status }) => type === "Accepted" && status === "False");
    // An invalid policy is already reported by its reader.
    if (refusal === undefined || use.count > 0 || invalidityOf(object) !== undefined) return [];
    return [
      { object: refOf(object), severity: "error", reason: "UnusableResource", message: refusal.message },
    ];
  });
