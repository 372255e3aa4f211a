import { isDeepStrictEqual } from "node:util";
import { newestGeneration } from "../api/stand-in.ts";
import { memo, memo2 } from "../translate/incremental/memo.ts";
import type { PolicyAttachment } from "../translate/policy-ancestors.ts";
import type { NamedPolicyKind } from "../translate/policy-status/kinds.ts";
import type { PolicyStatus } from "../translate/policy-status/translator.ts";
import type { Translation } from "../translate/translation.ts";
import { mergeConditions, mergeOwnedEntries } from "../write/conditions.ts";
import type { StatusChange } from "../write/status-writer.ts";
import { setAncestors } from "./policy-ancestors.ts";
import { setPolicyAncestors } from "./policy.ts";
import type { Reconciler } from "./reconciler.ts";
import { statusReconciler, type DesiredStatus } from "./status-reconciler.ts";

export type NamedPolicyOptions = {
  readonly controllerName: string;
  /** Whether policies of the kind are also attached to Gateways, and therefore have `status.ancestors`. */
  readonly isAttached: boolean;
};

/** Writes our entry of `status.controllers` of all policies of a kind (docs/policy-status.md). */
export function namedPolicyReconciler(
  kind: NamedPolicyKind,
  { controllerName, isAttached }: NamedPolicyOptions,
): Reconciler {
  /** The change of our entry, with the entries of the Gateways that the policy was attached to removed. */
  const unattached = (status?: PolicyStatus): StatusChange =>
    isAttached
      ? both(setController(controllerName, status), setAncestors(controllerName, [], undefined))
      : setController(controllerName, status);
  const plain = memo((status: PolicyStatus): DesiredStatus => ({
    object: status.object,
    change: unattached(status),
  }));
  const attached = memo2((status: PolicyStatus, attachment: PolicyAttachment): DesiredStatus => ({
    object: status.object,
    change: both(setController(controllerName, status), setPolicyAncestors(controllerName, attachment)),
  }));
  const ofKind = memo((all: readonly PolicyStatus[]) => all.filter(({ object }) => object.kind === kind));
  const statusesOf = memo2((all: readonly PolicyStatus[], attachments: readonly PolicyAttachment[]) => {
    const byObject = new Map<object, PolicyAttachment>(attachments.map((one) => [one.object, one]));
    return ofKind(all).map((status): DesiredStatus => {
      const attachment = byObject.get(status.object);
      return attachment === undefined ? plain(status) : attached(status, attachment);
    });
  });
  const attachmentsOf = ({ gatewayPolicies }: Translation): readonly PolicyAttachment[] =>
    isAttached ? gatewayPolicies : noAttachments;
  return statusReconciler({
    kind,
    statuses: ({ translation }) => statusesOf(translation.policyStatuses, attachmentsOf(translation)),
    release: () => unattached(),
  });
}

const noAttachments: readonly PolicyAttachment[] = [];

type Entry = { readonly controllerName?: unknown; readonly conditions?: unknown };

/**
 * Updates our entry of `status.controllers` and keeps those of other controllers; without a status, our entry is
 * removed.
 */
function setController(controllerName: string, status?: PolicyStatus): StatusChange {
  return (present, nowMs) => {
    const current = (present as { readonly controllers?: unknown } | undefined)?.controllers;
    const make =
      ({ object, conditions, use }: PolicyStatus) =>
      (entry: Entry | undefined) => ({
        controllerName,
        conditions: mergeConditions({
          current: entry?.conditions,
          desired: conditions,
          owned: ownedTypes,
          generation: newestGeneration(object),
          nowMs,
        }),
        usedBy: use,
      });
    const controllers = mergeOwnedEntries<Entry>({
      current,
      isOurs: (entry) => entry.controllerName === controllerName,
      keyOf: () => controllerName,
      desired: new Map(status === undefined ? [] : [[controllerName, make(status)]]),
    });
    if (isDeepStrictEqual(current ?? [], controllers)) return {};
    return { controllers: controllers.length === 0 ? null : controllers };
  };
}

const ownedTypes: ReadonlySet<string> = new Set(["Accepted", "ResolvedRefs"]);

const both =
  (first: StatusChange, second: StatusChange): StatusChange =>
  (status, nowMs) => ({ ...first(status, nowMs), ...second(status, nowMs) });
