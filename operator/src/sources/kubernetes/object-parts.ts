import type { KubeObject } from "../../api/object.ts";

/**
 * The part of an object that is held. A controller holds every object of a cluster in memory, and old versions of them
 * while it lists; so unused parts are removed as soon as an object arrives: managed fields, which are often half of it,
 * the last-applied annotation, and all data of a ConfigMap but its CA bundle.
 */
export function heldPart(object: KubeObject): KubeObject {
  const { managedFields: _managed, ...metadata } = object.metadata as Metadata;
  const { [lastApplied]: _applied, ...annotations } = metadata.annotations ?? {};
  const kept = { ...object, metadata: { ...metadata, annotations } };
  return object.kind === "ConfigMap" ? onlyBundle(kept) : kept;
}

/**
 * The declared part of an object, which the world holds. Versions and the statuses that controllers write are removed;
 * the status of a Service says where it is reached, which is an input.
 */
export function declaredPart(object: KubeObject): KubeObject {
  const { resourceVersion: _version, ...metadata } = object.metadata;
  const { status, ...rest } = object as KubeObject & { readonly status?: unknown };
  const declared = { ...rest, metadata };
  return object.kind === "Service" && status !== undefined
    ? ({ ...declared, status } as KubeObject)
    : declared;
}

type Metadata = KubeObject["metadata"] & { readonly managedFields?: unknown };

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

/** ConfigMaps serve many as a lock whose annotations change every few seconds. */
function onlyBundle({ apiVersion, kind, ...rest }: KubeObject): KubeObject {
  const { annotations: _annotations, ...metadata } = rest.metadata;
  const bundle = (rest as { readonly data?: Readonly<Record<string, string>> }).data?.["ca.crt"];
  const kept = { apiVersion, kind, metadata };
  return bundle === undefined ? kept : ({ ...kept, data: { "ca.crt": bundle } } as KubeObject);
}
