import type { AnnotationDefinition } from "@svc-gateway/common/features/definition.ts";
import { formatNamespacedName, type NamespacedName } from "@svc-gateway/common/values/namespaced-name.ts";
import type { KindName, ObjectOf } from "../../api/kinds.ts";
import { referenceNotFound } from "../diagnostics.ts";
import type { AnnotationReader } from "./annotation-reader.ts";
import type { FeatureContext } from "./context.ts";

/**
 * The resource that an annotation names, in whatever namespace it is: these resources protect nothing by themselves, so
 * anybody may use them (docs/reference/annotations.md). Undefined when the annotation is absent, and, with
 * a warning, when there is no such resource.
 */
export function resolveReference<K extends KindName>(
  kind: K,
  definition: AnnotationDefinition<NamespacedName>,
  read: AnnotationReader,
  { lookup, report }: FeatureContext,
): ObjectOf<K> | undefined {
  const reference = read(definition);
  if (reference === undefined) return undefined;
  const found = lookup(kind, reference.namespace, reference.name);
  if (found === undefined) {
    const named = `${kind} ${formatNamespacedName(reference)}`;
    report(definition, (place) => referenceNotFound(place, named, definition.fallback));
  }
  return found;
}
