import { kindNames, type KindName } from "../api/kinds.ts";
import { refOf } from "../api/object.ts";
import type { Diagnostic } from "../translate/translation.ts";
import type { World } from "../world.ts";

/**
 * Kinds that are read and validated, but that this release does nothing with; they change how traffic is served once
 * something refers to them.
 */
const unservedKinds: readonly KindName[] = ["ClientTrafficPolicy"];

/** Says of each object of such a kind that it has no effect, so that nobody looks for the mistake elsewhere. */
export const findUnserved = (world: World): readonly Diagnostic[] => [
  ...unservedObjects(world),
  ...world.SvcExternalAuth.filter(({ spec }) => (spec.targetRefs ?? []).length > 0).map(
    (object): Diagnostic => ({
      object: refOf(object),
      severity: "error",
      reason: "NotServed",
      field: "spec.targetRefs",
      message: "Attaching to a Gateway is checked, but this release does not apply it yet",
    }),
  ),
];

const unservedObjects = (world: World): readonly Diagnostic[] =>
  kindNames.flatMap((kind) => {
    if (!unservedKinds.includes(kind)) return [];
    return world[kind].map((object): Diagnostic => ({
      object: refOf(object),
      severity: "warning",
      reason: "NotServed",
      message: `${kind} objects are checked, but this release does not apply them yet`,
    }));
  });
