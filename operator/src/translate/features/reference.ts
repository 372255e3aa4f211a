import type { AnnotationDefinition } from "@svc-gateway/common/features/definition.ts";
import { formatNamespacedName, type NamespacedName } from "@svc-gateway/common/values/namespaced-name.ts";
import type { KindName, ObjectOf } from "../../api/kinds.ts";
import { referenceNotFound } from "../diagnostics.ts";
import type { AnnotationReader } from "./annotation-reader.ts";
import type { FeatureContext } from "./context.ts";

/**
 * The resource that an annotation names (docs/cross-namespace-references.md). Undefined when the annotation is absent,
 * and, with a finding, when the Ingress may not use such a resource or there is none. The permission is looked at
 * first, so that nobody learns what exists in a namespace that grants nothing.
 */
export function resolveReference<K extends KindName>(
  kind: K,
  definition: AnnotationDefinition<NamespacedName>,
  read: AnnotationReader,
  context: FeatureContext,
): ObjectOf<K> | undefined {
  const reference = read(definition);
  if (reference === undefined) return undefined;
  const named = `${kind} ${formatNamespacedName(reference)}`;
  const { referrer, permits, freeNamespaces } = context;
  if (
    definition.needsGrant === true &&
    !freeNamespaces(definition).includes(reference.namespace) &&
    !permits(referrer, { kind, ...reference })
  ) {
    const who = `${referrer.kind} in namespace ${referrer.namespace}`;
    context.refuse(
      definition,
      `no ReferenceGrant permits a reference from ${who} to ${named}; ${definition.fallback}`,
    );
    return undefined;
  }
  const found = context.lookup(kind, reference.namespace, reference.name);
  if (found === undefined) {
    context.report(definition, (place) => referenceNotFound(place, named, definition.fallback));
  }
  return found;
}
