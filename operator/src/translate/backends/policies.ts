/** Which SvcBackendPolicy a Service has. See docs/features/backend-policy.md. */
import type { BackendPolicy } from "@svc-gateway/common/features/backend-policy.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { nameOf, refOf, type ObjectRef } from "../../api/object.ts";
import { createLookup, type Lookup, type World } from "../../world.ts";
import { ageOf, compareAges } from "../age.ts";
import { attempt } from "../attempt.ts";
import { withoutStandIns } from "../closures.ts";
import { policyConflict, policyTargetNotFound } from "../diagnostics/policies.ts";
import type { Diagnostic } from "../finding.ts";
import { memo } from "../incremental/memo.ts";
import { createAttachmentKeeper, type PolicyAncestor, type PolicyAttachment } from "../policy-ancestors.ts";
import { readPolicySettings } from "./policy-settings.ts";

type Policy = ObjectOf<"SvcBackendPolicy">;
type Attachment = PolicyAttachment<"SvcBackendPolicy">;

type BackendPolicies = {
  /** By `namespace/name` of the Service. A policy without a usable setting is not in it. */
  readonly byService: ReadonlyMap<string, BackendPolicy>;
  readonly attachments: readonly Attachment[];
  readonly diagnostics: readonly Diagnostic[];
};

const settingsOf = memo((policy: Policy) =>
  attempt(policy, () => readPolicySettings(policy), { policy: {}, ignored: ["spec"] }),
);

/** Translates the policies of all Services; the same result while policies and Services are the same. */
export function createPolicyTranslator(): (world: World) => BackendPolicies {
  const keep = createAttachmentKeeper<Attachment>();
  let last: { readonly world: World; readonly output: BackendPolicies } | undefined;
  return (world) => {
    const isSame =
      last !== undefined &&
      last.world.SvcBackendPolicy === world.SvcBackendPolicy &&
      last.world.Service === world.Service;
    if (last === undefined || !isSame) last = { world, output: attach(world, keep) };
    return last.output;
  };
}

/** Of several policies that target a Service, the oldest applies, even if its settings are invalid. */
function attach(world: World, keep: (attachment: Attachment) => Attachment): BackendPolicies {
  const lookup = createLookup(world);
  const owners = new Map<string, Policy>();
  const byService = new Map<string, BackendPolicy>();
  const attachments: Attachment[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const object of withoutStandIns(world.SvcBackendPolicy).toSorted((a, b) =>
    compareAges(ageOf(a), ageOf(b)),
  )) {
    const settings = settingsOf(object);
    diagnostics.push(...settings.diagnostics);
    const ancestors = object.spec.targetRefs.map(({ name }, index): PolicyAncestor => {
      const { namespace } = object.metadata;
      const key = `${namespace}/${name}`;
      const owner = owners.get(key);
      if (owner === undefined) owners.set(key, object);
      const verdict = judge({ settings, key, owner: owner && refOf(owner), lookup });
      if (verdict.diagnostic !== undefined) {
        const place = { object: refOf(object), field: `spec.targetRefs[${index}].name` };
        diagnostics.push(verdict.diagnostic(place));
      }
      if (owner === undefined && Object.keys(settings.policy).length > 0) byService.set(key, settings.policy);
      const target = { group: "", kind: "Service", namespace, name };
      return { target, reason: verdict.reason, message: verdict.message };
    });
    attachments.push(keep({ object, ancestors }));
  }
  return { byService, attachments, diagnostics };
}

type Verdict = Pick<PolicyAncestor, "reason" | "message"> & {
  readonly diagnostic?: (place: { readonly object: ObjectRef; readonly field: string }) => Diagnostic;
};

function judge(target: {
  readonly settings: ReturnType<typeof readPolicySettings>;
  /** `namespace/name` of the Service. */
  readonly key: string;
  /** The older policy that has the Service. */
  readonly owner: ObjectRef | undefined;
  readonly lookup: Lookup;
}): Verdict {
  const { settings, key, owner, lookup } = target;
  const [namespace = "", name = ""] = key.split("/");
  if (lookup("Service", namespace, name) === undefined) {
    const message = `Service ${key} does not exist`;
    return {
      reason: "TargetNotFound",
      message,
      diagnostic: (place) => policyTargetNotFound(place, `Service ${key}`),
    };
  }
  if (owner !== undefined) {
    const winner = nameOf(owner);
    const message = `SvcBackendPolicy ${winner} is older and applies to Service ${key}`;
    return {
      reason: "Conflicted",
      message,
      diagnostic: (place) => policyConflict(place, key, `SvcBackendPolicy ${winner}`),
    };
  }
  const { ignored } = settings;
  const isUsable = Object.keys(settings.policy).length > 0;
  if (ignored.length > 0 && !isUsable) {
    return { reason: "Invalid", message: `None of the settings is valid: ${ignored.join(", ")}` };
  }
  const exception =
    ignored.length === 0 ? "" : `, except for ${ignored.join(", ")}, whose values are not valid`;
  return { reason: "Accepted", message: `The policy applies to Service ${key}${exception}` };
}
