import type { KubeObject } from "../api/object.ts";
import { fieldManager } from "./status-writer.ts";

/** The part of `metadata.managedFields` that is read (Kubernetes, "Server-Side Apply", field management). */
type Managed = {
  readonly managedFields?: readonly {
    readonly manager?: string;
    readonly subresource?: string;
    readonly fieldsV1?: {
      readonly "f:status"?: { readonly "f:conditions"?: Readonly<Record<string, object | undefined>> };
    };
  }[];
};

/**
 * Whether the messages of all these conditions of an object, as stored in the API server, were last changed by this
 * program. A field that another writer sets to the value that it has keeps its owner, so fields with few values, such
 * as `status`, do not show the last writer. Installations of this program share one name and are not distinguished.
 */
export function wroteConditions({ metadata }: KubeObject, types: readonly string[]): boolean {
  const { managedFields = [] } = metadata as Managed;
  const own = managedFields.filter(
    ({ manager, subresource }) => manager === fieldManager && subresource === "status",
  );
  return types.every((type) =>
    own.some(({ fieldsV1 }) => {
      const fields = fieldsV1?.["f:status"]?.["f:conditions"]?.[`k:${JSON.stringify({ type })}`];
      return fields !== undefined && "f:message" in fields;
    }),
  );
}
