/** Findings about annotations of other controllers, which have no effect here. See docs/foreign-annotations.md. */
import { annotationPrefix } from "@svc-gateway/common/features/definition.ts";
import { annotations as ownAnnotations } from "@svc-gateway/common/features/registry.ts";
import { keyField } from "../diagnostics/define-finding.ts";
import { foreignAnnotation, moreForeignAnnotations } from "../diagnostics/annotations.ts";
import { foreignAnnotationsEvent } from "../events.ts";
import type { DesiredEvent, Diagnostic } from "../finding.ts";
import type { ObjectRef } from "../../api/object.ts";
import { controllerOfPrefix, ingressNginx, type ForeignController } from "./controllers.ts";
import { allowsEveryone, missingOfNginx, missingProtection } from "./protection.ts";

/** The maximum number of annotations of one Ingress that get a finding each. Those that protect come first. */
const maxFindings = 100;

/** One annotation of another controller. */
export type ForeignAnnotation = {
  readonly key: string;
  readonly name: string;
  readonly controller: ForeignController;
  /** The protection that is missing without it; undefined if it protects nothing. */
  readonly missing: string | undefined;
};

/**
 * The annotations of other controllers on an object, those that protect first. `isRead` returns whether a key
 * has an effect.
 */
export function foreignAnnotationsOf(
  annotations: Readonly<Record<string, string>>,
  isRead: (key: string) => boolean = () => false,
): readonly ForeignAnnotation[] {
  const found: ForeignAnnotation[] = [];
  for (const [key, value] of Object.entries(annotations)) {
    const slash = key.indexOf("/");
    if (slash === -1) continue;
    const controller = controllerOfPrefix(key.slice(0, slash));
    const name = key.slice(slash + 1);
    if (controller === undefined || controller.written?.has(name) === true || isRead(key)) continue;
    if (allowsEveryone(name, value)) continue;
    const missing =
      controller === ingressNginx ? missingOfNginx(name, value) : missingProtection(name, value);
    found.push({ key, name, controller, missing });
  }
  return found.sort((a, b) => Number(a.missing === undefined) - Number(b.missing === undefined));
}

/** Creates a finding for each annotation of another controller, and one Event for the Ingress. */
export function reportForeignAnnotations(
  object: ObjectRef,
  found: readonly ForeignAnnotation[],
): { readonly diagnostics: readonly Diagnostic[]; readonly events: readonly DesiredEvent[] } {
  if (found.length === 0) return none;
  const diagnostics = found.slice(0, maxFindings).map(({ key, name, controller, missing }) =>
    foreignAnnotation(
      { object, field: keyField("metadata.annotations", key) },
      {
        key,
        controller: controller.name,
        missing,
        own: ownNameOf(name),
        hint: controller === ingressNginx ? nginxHint : undefined,
      },
    ),
  );
  const more = found.length - diagnostics.length;
  return {
    diagnostics: more > 0 ? [...diagnostics, moreForeignAnnotations({ object }, more)] : diagnostics,
    events: [foreignAnnotationsEvent(object, describe(found))],
  };
}

/** How the annotations of ingress-nginx take effect. */
const nginxHint = "--ingress-nginx-classes names classes that are read with them";

const none = { diagnostics: [], events: [] };

const ownNameOf = (name: string): string | undefined =>
  ownAnnotations.has(`${annotationPrefix}${name}`) ? `${annotationPrefix}${name}` : undefined;

/** The maximum number of names of one protection, or without one, in the message of the Event. */
const maxNames = 12;

/**
 * Describes the annotations, such as `requests are not authenticated (auth-url, auth-signin); without effect:
 * rewrite-target`.
 */
function describe(found: readonly ForeignAnnotation[]): string {
  const by = [...new Set(found.map(({ controller }) => controller.name))];
  const parts = [...Map.groupBy(found, ({ missing }) => missing)].map(([missing, group]) =>
    missing === undefined ? `without effect: ${namesOf(group)}` : `${missing} (${namesOf(group)})`,
  );
  const isNginx = found.some(({ controller }) => controller === ingressNginx);
  const hint = isNginx ? ` (${nginxHint})` : "";
  return `Annotations of ${by.join(", ")} have no effect on this Ingress${hint}: ${parts.join("; ")}`;
}

function namesOf(group: readonly ForeignAnnotation[]): string {
  const names = group.slice(0, maxNames).map(({ key }) => key.slice(0, 100));
  const more = group.length - names.length;
  return more > 0 ? `${names.join(", ")} and ${more} more` : names.join(", ");
}
