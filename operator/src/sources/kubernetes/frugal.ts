import type { KubeObject } from "../../api/object.ts";

/**
 * What is kept of an object in the world. A controller holds every object of a cluster in memory, so what nobody reads
 * goes: managed fields, versions, the last-applied annotation, all data of a ConfigMap but its CA bundle, and the
 * statuses that controllers write. What is left changes only when somebody declares something else.
 */
export function frugal(object: KubeObject): KubeObject {
  const { managedFields: _managed, resourceVersion: _version, ...metadata } = object.metadata as Metadata;
  const { [lastApplied]: _applied, ...annotations } = metadata.annotations ?? {};
  const kept = { ...object, metadata: { ...metadata, annotations } };
  if (object.kind === "ConfigMap") return onlyBundle(kept);
  return object.kind === "Service" ? kept : withoutStatus(kept);
}

type Metadata = KubeObject["metadata"] & { readonly managedFields?: unknown };

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

/** ConfigMaps serve many as a lock whose annotations change every few seconds. */
function onlyBundle(object: KubeObject): KubeObject {
  const { annotations: _annotations, ...metadata } = object.metadata;
  const { data } = object as KubeObject & { readonly data?: Readonly<Record<string, string>> };
  const bundle = data?.["ca.crt"];
  const { apiVersion, kind } = object;
  const kept = { apiVersion, kind, metadata };
  return bundle === undefined ? kept : ({ ...kept, data: { "ca.crt": bundle } } as KubeObject);
}

/** The status of a Service says where it is reached, which is an input; other statuses are outputs. */
function withoutStatus(object: KubeObject): KubeObject {
  const { status: _status, ...rest } = object as KubeObject & { readonly status?: unknown };
  return rest;
}
