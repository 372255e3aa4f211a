/** Objects that exist but are not held: only their names and versions are kept. See docs/controller.md, "Memory". */
import type { KubeObject } from "../../api/object.ts";

/**
 * The reason why an object is not held: the Secret is not named by any object, or its namespace exceeds its memory
 * budget.
 */
export type Absence = "unnamed" | "no room";

export type AbsentObject = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly uid?: string;
  readonly version: string;
  readonly why: Absence;
};

export const absentObject = ({ apiVersion, kind, metadata }: KubeObject, why: Absence): AbsentObject => ({
  apiVersion,
  kind,
  name: metadata.name,
  ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
  ...(metadata.uid !== undefined && { uid: metadata.uid }),
  version: metadata.resourceVersion ?? "",
  why,
});
