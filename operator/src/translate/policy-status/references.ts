/** Finds the policies that an object refers to. */
import { annotations as known } from "@svc-gateway/common/features/registry.ts";
import { parseNamespacedName } from "@svc-gateway/common/values/namespaced-name.ts";
import { definitionOf } from "../../api/kinds.ts";
import type { View } from "../incremental/view.ts";
import { isPolicyKind, policyKey, type NamedPolicyKind, type User } from "./kinds.ts";

/**
 * The keys of the policies that an object refers to and may use, without duplicates. A reference into a namespace
 * that does not permit it is ignored, because it must not be visible there (docs/cross-namespace-references.md).
 */
export function policiesNamedBy(user: User, view: View): readonly string[] {
  return [...new Set(namedBy(user, view))];
}

function namedBy(user: User, view: View): readonly string[] {
  switch (user.kind) {
    case "Ingress":
      return ofAnnotations(user, user.metadata.annotations, view);
    case "RouteOptions":
      return ofAnnotations(user, user.spec.annotations, view);
    case "SvcIngressClassParameters":
      return ofAnnotations(user, user.spec.defaultAnnotations, view);
    case "HTTPRoute":
    case "GRPCRoute":
      return (user.spec?.rules ?? []).flatMap(({ filters = [] }) => ofFilters(filters, user));
    case "Gateway": {
      const { listeners, infrastructure } = user.spec;
      const { namespace } = user.metadata;
      return [
        ...listeners.flatMap(({ filters }) => ofFilters(filters?.requests ?? [], user)),
        ...ofReference(infrastructure?.parametersRef, "SvcGatewayParameters", namespace),
      ];
    }
    case "ListenerSet":
      return user.spec.listeners.flatMap(({ filters }) => ofFilters(filters?.requests ?? [], user));
    case "GatewayClass": {
      const ref = user.spec.parametersRef;
      return ofReference(ref, "SvcGatewayParameters", ref?.namespace);
    }
    case "IngressClass": {
      const ref = user.spec?.parameters;
      return ofReference(
        ref && { group: ref.apiGroup ?? "", kind: ref.kind, name: ref.name },
        "SvcIngressClassParameters",
        ref?.namespace,
      );
    }
  }
}

function ofAnnotations(
  { kind, metadata: { namespace } }: Extract<User, { readonly metadata: { readonly namespace: string } }>,
  annotations: { readonly [key: string]: string } | undefined,
  { permits }: View,
): readonly string[] {
  return Object.entries(annotations ?? {}).flatMap(([key, value]) => {
    const { resource, needsGrant } = known.get(key) ?? {};
    if (resource === undefined || !isPolicyKind(resource)) return [];
    const named = parseNamespacedName(value.trim());
    if (!named.ok) return [];
    const isFree = named.value.namespace === namespace || needsGrant !== true;
    return isFree || permits({ kind, namespace }, { kind: resource, ...named.value })
      ? [policyKey(resource, named.value.namespace, named.value.name)]
      : [];
  });
}

type Filter = { readonly type?: string; readonly extensionRef?: Reference | undefined };
type Reference = { readonly group: string; readonly kind: string; readonly name: string };

/** The policies of filters, which refer to their own namespace. */
const ofFilters = (
  filters: readonly Filter[],
  { metadata: { namespace } }: Extract<User, { readonly metadata: { readonly namespace: string } }>,
): readonly string[] =>
  filters.flatMap(({ type, extensionRef: ref }) => {
    if (type !== "ExtensionRef" || ref === undefined) return [];
    const kind = ref.kind === "ExternalAuth" ? "SvcExternalAuth" : ref.kind;
    return isPolicyKind(kind) && definitionOf(kind).group === ref.group
      ? [policyKey(kind, namespace, ref.name)]
      : [];
  });

const ofReference = (
  ref: Reference | undefined,
  kind: NamedPolicyKind,
  namespace: string | undefined,
): readonly string[] =>
  ref !== undefined && namespace !== undefined && ref.kind === kind && ref.group === definitionOf(kind).group
    ? [policyKey(kind, namespace, ref.name)]
    : [];
