import type { AnnotationDefinition } from "@svc-gateway/common/features/definition.ts";
import { formatNamespacedName, type NamespacedName } from "@svc-gateway/common/values/namespaced-name.ts";
import type { KindName, ObjectOf } from "../../api/kinds.ts";
import { isStandIn } from "../../api/stand-in.ts";
import { protectionNotFound, protectionUnavailable, referenceNotFound } from "../diagnostics/references.ts";
import { classDefaultApplies, type AnnotationReader } from "./annotation-reader.ts";
import type { FeatureContext } from "./context.ts";

type Referring = Pick<AnnotationDefinition<unknown>, "name" | "needsGrant" | "fallback">;

/**
 * The resource that an annotation names (docs/cross-namespace-references.md). Undefined when the annotation is absent,
 * and, with a finding and an Event, when the Ingress may not use such a resource or there is none; one that the Ingress names
 * and that does not exist leaves the default of the class in place.
 */
export function resolveReference<K extends KindName>(
  kind: K,
  definition: AnnotationDefinition<NamespacedName>,
  read: AnnotationReader,
  context: FeatureContext,
): ObjectOf<K> | undefined {
  const reference = read(definition);
  if (reference === undefined || !mayRefer(kind, reference, definition, context)) return undefined;
  const found = context.lookup(kind, reference.namespace, reference.name);
  if (found !== undefined) return found;
  const otherwise = read.inherited(definition);
  const byClass =
    otherwise === undefined || otherwise === reference
      ? undefined
      : context.lookup(kind, otherwise.namespace, otherwise.name);
  const named = `${kind} ${formatNamespacedName(reference)}`;
  const instead = byClass === undefined ? definition.fallback : classDefaultApplies;
  const isProtection = definition.restricts === true && byClass === undefined;
  context.reportWithEvent(definition, (place) =>
    (isProtection ? protectionNotFound : referenceNotFound)(place, named, instead),
  );
  return byClass;
}

/**
 * The resource that protects a route. A reference that does not parse, or whose object cannot be used, is not absent
 * but `unavailable`: a route with a protection must never be open. `orElse` completes the finding about a missing
 * resource.
 */
export function resolveProtection<K extends KindName>(
  kind: K,
  definition: AnnotationDefinition<NamespacedName | "invalid">,
  read: AnnotationReader,
  context: FeatureContext,
  orElse = "",
): ObjectOf<K> | "unavailable" | undefined {
  const reference = read(definition);
  if (reference === undefined) return undefined;
  if (reference === "invalid" || !mayRefer(kind, reference, definition, context)) return "unavailable";
  const found = context.lookup(kind, reference.namespace, reference.name);
  if (found !== undefined && !isStandIn(found)) return found;
  const what = found === undefined ? `does not exist${orElse}` : "is not valid";
  const why = `${kind} ${formatNamespacedName(reference)} ${what}`;
  context.reportWithEvent(definition, (place) => protectionUnavailable(place, why, definition.fallback));
  return "unavailable";
}

/** Checked before any lookup, so that a tenant cannot find out what exists in a namespace without a grant. */
function mayRefer(
  kind: KindName,
  reference: NamespacedName,
  definition: Referring,
  { referrer, permits, freeNamespaces, refuse }: FeatureContext,
): boolean {
  if (definition.needsGrant !== true) return true;
  if (freeNamespaces(definition).includes(reference.namespace)) return true;
  if (permits(referrer, { kind, ...reference })) return true;
  const who = `${referrer.kind} in namespace ${referrer.namespace}`;
  const named = `${kind} ${formatNamespacedName(reference)}`;
  refuse(definition, `no ReferenceGrant permits a reference from ${who} to ${named}; ${definition.fallback}`);
  return false;
}
