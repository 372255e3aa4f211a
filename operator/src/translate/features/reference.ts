import type { AnnotationDefinition } from "@svc-gateway/common/features/definition.ts";
import { formatNamespacedName, type NamespacedName } from "@svc-gateway/common/values/namespaced-name.ts";
import type { KindName, ObjectOf } from "../../api/kinds.ts";
import { isNamedKind, isStandIn } from "../../api/stand-in.ts";
import {
  describeUnusable,
  protectionNotFound,
  protectionUnavailable,
  referenceNotFound,
  unusableResource,
} from "../diagnostics/references.ts";
import { classDefaultApplies, type AnnotationReader } from "./annotation-reader.ts";
import type { FeatureContext } from "./context.ts";

type Referring = Pick<AnnotationDefinition<unknown>, "name" | "needsGrant" | "fallback">;

/**
 * Resolves the resource that an annotation names (docs/cross-namespace-references.md). Returns undefined if the
 * annotation is absent. Also returns undefined, with a finding and an Event, if the Ingress may not use the
 * resource, or if it does not exist or is invalid. If the Ingress itself names a missing or invalid resource,
 * the default of the class applies instead. For kinds that close routes, a stand-in counts as a resource.
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
  const usable = usableOf(kind, found);
  if (usable !== undefined) return usable;
  const otherwise = read.inherited(definition);
  const byClass =
    otherwise === undefined || otherwise === reference
      ? undefined
      : usableOf(kind, context.lookup(kind, otherwise.namespace, otherwise.name));
  const named = `${kind} ${formatNamespacedName(reference)}`;
  const instead = byClass === undefined ? definition.fallback : classDefaultApplies;
  const isProtection = definition.restricts === true && byClass === undefined;
  context.reportWithEvent(definition, (place) => {
    if (found !== undefined) return unusableResource(place, describeUnusable(named, found), instead);
    return (isProtection ? protectionNotFound : referenceNotFound)(place, named, instead);
  });
  return byClass;
}

/** Treats a stand-in of a kind that closes nothing like an object that does not exist. */
const usableOf = <K extends KindName>(kind: K, found: ObjectOf<K> | undefined): ObjectOf<K> | undefined =>
  found !== undefined && isNamedKind(kind) && isStandIn(found) ? undefined : found;

/**
 * Resolves the resource that protects a route. A reference that does not parse, or whose object cannot be used,
 * is not absent but `unavailable`, or `invalid` if the object exists: a route with a protection must never be
 * open. `orElse` completes the finding about a missing resource.
 */
export function resolveProtection<K extends KindName>(
  kind: K,
  definition: AnnotationDefinition<NamespacedName | "invalid">,
  read: AnnotationReader,
  context: FeatureContext,
  orElse = "",
): ObjectOf<K> | "unavailable" | "invalid" | undefined {
  const reference = read(definition);
  if (reference === undefined) return undefined;
  if (reference === "invalid" || !mayRefer(kind, reference, definition, context)) return "unavailable";
  const found = context.lookup(kind, reference.namespace, reference.name);
  if (found !== undefined && !isStandIn(found)) return found;
  const why = `${describeUnusable(`${kind} ${formatNamespacedName(reference)}`, found)}${found === undefined ? orElse : ""}`;
  context.reportWithEvent(definition, (place) => protectionUnavailable(place, why, definition.fallback));
  return found === undefined ? "unavailable" : "invalid";
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
