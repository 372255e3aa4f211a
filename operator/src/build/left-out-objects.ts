/** Findings and Events about objects that a controller leaves out. See docs/controller.md, "Memory". */
import type { AbsentObject } from "../sources/kubernetes/absent-objects.ts";
import { namespaceTooLarge } from "../translate/diagnostics/sizes.ts";
import type { Diagnostic } from "../translate/finding.ts";
import { listMemo, memo } from "../translate/incremental/memo.ts";
import type { ObjectEvent } from "../write/event-object.ts";

/** Returns a finding for each object. */
export function leftOutFindings(objects: readonly AbsentObject[]): readonly Diagnostic[] {
  return findingsOf(objects, undefined);
}

/** Returns an Event for each object. */
export function leftOutEvents(objects: readonly AbsentObject[]): readonly ObjectEvent[] {
  return eventsOf(objects, undefined);
}

const findingOf = memo(({ kind, namespace, name }: AbsentObject) =>
  namespaceTooLarge({ object: { kind, name, ...(namespace !== undefined && { namespace }) } }),
);

const eventOf = memo((object: AbsentObject): ObjectEvent => {
  const { apiVersion, kind, namespace, name, uid } = object;
  return {
    regarding: {
      apiVersion,
      kind,
      name,
      ...(namespace !== undefined && { namespace }),
      ...(uid !== undefined && { uid }),
    },
    type: "Warning",
    reason: "NotServed",
    message: findingOf(object).message,
  };
});

const findingsOf = listMemo((objects: readonly AbsentObject[]) => objects.map(findingOf));
const eventsOf = listMemo((objects: readonly AbsentObject[]) => objects.map(eventOf));
