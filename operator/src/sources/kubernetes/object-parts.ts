import type { KubeObject } from "../../api/object.ts";
import { isRecord } from "../../api/validation/problem.ts";

/**
 * Returns the part of an object that is held. A controller holds every object of a cluster in memory, and old versions
 * of them while it lists. Unused parts are therefore removed as soon as an object arrives: managed fields, which are
 * often half of it, the last-applied annotation, and all data of a ConfigMap except its CA bundle and short settings.
 */
export function heldPart(object: KubeObject): KubeObject {
  const { managedFields: _managed, ...metadata } = object.metadata as Metadata;
  const { [lastApplied]: _applied, ...annotations } = metadata.annotations ?? {};
  const kept = { ...object, metadata: { ...metadata, annotations } };
  return object.kind === "ConfigMap" ? onlySettings(kept) : kept;
}

/**
 * Returns the declared part of an object, which the world holds. Versions and the statuses that controllers write are
 * removed, except the addresses of a Service, which are an input. The conditions beside them are not: the API server
 * does not check them, so an invalid one must not make the Service invalid.
 */
export function declaredPart(object: KubeObject): KubeObject {
  const { resourceVersion: _version, ...metadata } = object.metadata;
  const { status, ...rest } = object as KubeObject & { readonly status?: unknown };
  const declared = { ...rest, metadata };
  if (object.kind !== "Service" || !isRecord(status)) return declared;
  const { loadBalancer } = status;
  return { ...declared, status: loadBalancer === undefined ? {} : { loadBalancer } } as KubeObject;
}

type Metadata = KubeObject["metadata"] & { readonly managedFields?: unknown };

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

/** The largest size of the settings of one ConfigMap that is held. */
const maxSettingsBytes = 65_536;
/** Names of settings and of header fields; names of files differ by their dot. */
const settingName = /^[A-Za-z0-9_-]{1,128}$/;

/**
 * Returns a ConfigMap with only its CA bundle and the entries that can be settings of ingress-nginx or header fields:
 * values of one line, and snippets of nginx configuration. Other ConfigMaps have large files and reports, and many
 * serve as a lock whose annotations change every few seconds.
 */
function onlySettings({ apiVersion, kind, ...rest }: KubeObject): KubeObject {
  const { annotations: _annotations, ...metadata } = rest.metadata;
  const { data = {} } = rest as { readonly data?: Readonly<Record<string, string>> | null };
  let bytes = 0;
  const held = Object.entries(data ?? {}).filter(([key, value]) => {
    if (key === "ca.crt") return true;
    const isSetting = settingName.test(key) && (key.endsWith("-snippet") || !value.trimEnd().includes("\n"));
    if (!isSetting) return false;
    bytes += key.length + value.length;
    return bytes <= maxSettingsBytes;
  });
  const kept = { apiVersion, kind, metadata };
  return held.length === 0 ? kept : ({ ...kept, data: Object.fromEntries(held) } as KubeObject);
}
