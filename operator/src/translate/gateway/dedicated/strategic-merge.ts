/**
 * Strategic merge of parts of a pod template, as `kubectl patch --type strategic` does it (Kubernetes API
 * conventions).
 */
import { isObject, type JsonObject } from "./json.ts";

/** The field that identifies the entries of these lists. Every other list is replaced as a whole. */
const mergeKeys: Readonly<Record<string, string>> = {
  containers: "name",
  initContainers: "name",
  volumes: "name",
  imagePullSecrets: "name",
  hostAliases: "ip",
  topologySpreadConstraints: "topologyKey",
  resourceClaims: "name",
  env: "name",
  ports: "containerPort",
  volumeMounts: "mountPath",
  volumeDevices: "devicePath",
};

/** Merges objects field by field. A null removes a field; lists are merged by key or replaced. */
export function strategicMerge(base: JsonObject, patch: JsonObject): JsonObject {
  const merged: Record<string, unknown> = { ...base };
  for (const [field, value] of Object.entries(patch)) {
    const present = merged[field];
    const key = mergeKeys[field];
    if (value === null) delete merged[field];
    else if (isObject(value)) merged[field] = strategicMerge(isObject(present) ? present : {}, value);
    else if (Array.isArray(value) && Array.isArray(present) && key !== undefined) {
      merged[field] = mergeLists(present, value, key);
    } else merged[field] = value;
  }
  return merged;
}

/** Merges lists by key. Entries of the base keep their positions, and additional ones follow in their order. */
function mergeLists(base: readonly unknown[], patch: readonly unknown[], key: string): readonly unknown[] {
  const merged = [...base];
  for (const entry of patch) {
    const at = merged.findIndex((one) => isObject(one) && isObject(entry) && one[key] === entry[key]);
    const present = merged[at];
    if (isObject(present) && isObject(entry)) merged[at] = strategicMerge(present, entry);
    else merged.push(entry);
  }
  return merged;
}
