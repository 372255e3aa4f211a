import type { KubeObject } from "../../api/object.ts";

/** The same attachment for as long as it says the same of the same object, so that its status is not looked at again. */
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
