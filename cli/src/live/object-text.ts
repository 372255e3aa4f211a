/** Represents objects of a cluster as manifests: each is a separate file with a name and text generated on demand. */
import { definitionOf, kindOf } from "@svc-gateway/operator/api/kinds.ts";
import type { KubeObject } from "@svc-gateway/operator/api/object.ts";
import { stringify } from "yaml";

/** The name of the file: `namespace/plural/name.yaml`, or `plural/name.yaml` for cluster-scoped kinds. */
export function fileOf({ apiVersion, kind, metadata }: KubeObject): string {
  const known = kindOf(apiVersion, kind);
  const plural = known === undefined ? kind.toLowerCase() : definitionOf(known).plural;
  const { namespace, name } = metadata;
  return `${namespace === undefined ? "" : `${namespace}/`}${plural}/${name}.yaml`;
}

/** The fields that the API server adds to the metadata that users write. */
const ofServer: ReadonlySet<string> = new Set([
  "creationTimestamp",
  "deletionGracePeriodSeconds",
  "deletionTimestamp",
  "generation",
  "managedFields",
  "ownerReferences",
  "resourceVersion",
  "selfLink",
  "uid",
]);

/** The manifest of an object: the parts that users write, without the data of Secrets. */
export function textOfObject({ apiVersion, kind, metadata, ...body }: KubeObject): string {
  const { status: _status, data, ...rest } = body as { readonly status?: unknown; readonly data?: unknown };
  const written = Object.fromEntries(
    Object.entries(metadata).filter(([key, value]) => !ofServer.has(key) && !isEmpty(value)),
  );
  const isKept = data !== undefined && kind !== "Secret";
  return stringify(
    { apiVersion, kind, metadata: written, ...rest, ...(isKept && { data }) },
    { aliasDuplicateObjects: false, lineWidth: 0 },
  );
}

const isEmpty = (value: unknown): boolean =>
  typeof value === "object" && value !== null && Object.keys(value).length === 0;
