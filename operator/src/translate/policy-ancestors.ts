/** Policies with the content of their statuses, by the object that they are attached to. */
import type { ObjectOf } from "../api/kinds.ts";
import type { KubeObject } from "../api/object.ts";
import type { DesiredCondition } from "./condition.ts";

/** The verdict on a policy at one object that it targets, or at one listener of it. */
export type PolicyAncestor = {
  readonly target: {
    readonly group: string;
    readonly kind: string;
    readonly namespace: string;
    readonly name: string;
    readonly sectionName?: string;
  };
  /** `Accepted`, or the reason why the policy is not. */
  readonly reason: "Accepted" | "Conflicted" | "TargetNotFound" | "Invalid";
  readonly message: string;
};

/** The policies of this project whose statuses have ancestors. */
export type PolicyKind = "SvcBackendPolicy" | "SvcExternalAuth" | "ClientTrafficPolicy";

/** A policy with the complete content of its status. The object stays the same until the content changes. */
export type PolicyAttachment<K extends PolicyKind = PolicyKind> = {
  readonly object: ObjectOf<K>;
  readonly ancestors: readonly PolicyAncestor[];
};

/** A BackendTLSPolicy with its conditions at each Gateway. The object stays the same until the content changes. */
export type BackendTlsAttachment = {
  readonly object: ObjectOf<"BackendTLSPolicy">;
  readonly ancestors: readonly {
    readonly gateway: { readonly namespace: string; readonly name: string };
    readonly conditions: readonly DesiredCondition[];
  }[];
};

/**
 * Returns the previous attachment while its object and its content are the same, so that the status is not
 * compared again.
 */
export function createAttachmentKeeper<
  Attachment extends { readonly object: KubeObject; readonly ancestors: readonly object[] },
>(): (attachment: Attachment) => Attachment {
  const known = new WeakMap<KubeObject, { readonly form: string; readonly attachment: Attachment }>();
  return (attachment) => {
    const form = JSON.stringify(attachment.ancestors);
    const before = known.get(attachment.object);
    if (before?.form === form) return before.attachment;
    known.set(attachment.object, { form, attachment });
    return attachment;
  };
}
