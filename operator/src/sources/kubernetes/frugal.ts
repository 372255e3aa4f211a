import type { KubeObject } from "../../api/object.ts";

/**
 * What is kept of an object. A controller holds every object of a cluster in memory, so what nobody reads goes:
 * managed fields always, the last-applied annotation, and all data of a ConfigMap but its CA bundle.
 */
export function frugal(object: KubeObject): KubeObject {
  const { managedFields: _managed, ...metadata } = object.metadata as KubeObject["metadata"] & {
    readonly managedFields?: unknown;
  };
  const { [lastApplied]: _applied, ...annotations } = metadata.annotations ?? {};
  const kept = { ...object, metadata: { ...metadata, annotations } };
  return object.kind === "ConfigMap" ? withoutData(kept) : kept;
}

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

function withoutData(object: KubeObject): KubeObject {
  const {
    data,
    binaryData: _binary,
    ...rest
  } = object as KubeObject & {
    readonly data?: Readonly<Record<string, string>>;
    readonly binaryData?: unknown;
  };
  const bundle = data?.["ca.crt"];
  return bundle === undefined ? rest : ({ ...rest, data: { "ca.crt": bundle } } as KubeObject);
}
