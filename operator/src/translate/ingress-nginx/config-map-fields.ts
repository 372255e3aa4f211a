/** Header fields in a ConfigMap: a name and a value for each key. */
import { isUntouchable, type HeaderField } from "@svc-gateway/common/features/header-modifier.ts";
import { parseHeaderName, parseHeaderValue } from "@svc-gateway/common/values/header-name.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import { quote } from "../text.ts";
import type { GroupContext } from "./groups/group.ts";

type Reference = { readonly namespace: string | undefined; readonly name: string };

/** The maximum number of fields of one ConfigMap, whose size can be a megabyte. */
const maxFields = 100;

/** The text of the value of a field, from which templates are parsed; its characters are octets before. */
export const textOfWireForm = (value: string): string => Buffer.from(value, "latin1").toString("utf8");

/**
 * Reads the fields of a ConfigMap, sorted by name. The ConfigMap must be in the namespace of the Ingress,
 * unless a ReferenceGrant permits another one. The error is the reason why it cannot be used.
 */
export function readConfigMapFields(
  { namespace: written, name }: Reference,
  { namespace: own, lookup, permits }: Pick<GroupContext, "namespace" | "lookup" | "permits">,
): Result<readonly HeaderField[]> {
  const namespace = written ?? own;
  const named = `ConfigMap ${namespace}/${name}`;
  // Checked before any lookup, so that a tenant cannot find out what exists in a namespace without a grant.
  if (
    namespace !== own &&
    !permits({ kind: "Ingress", namespace: own }, { kind: "ConfigMap", namespace, name })
  ) {
    return problem(`no ReferenceGrant permits a reference from Ingress in namespace ${own} to ${named}`);
  }
  const map = lookup("ConfigMap", namespace, name);
  if (map === undefined) return problem(`${named} does not exist`);
  const data = Object.entries(map.data ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  if (data.length > maxFields) return problem(`${named} has more than ${maxFields} keys`);
  const fields: HeaderField[] = [];
  for (const [key, text] of data) {
    const field = parseHeaderName(key);
    const value = parseHeaderValue(text);
    if (!field.ok || isUntouchable(key))
      return problem(`${named} has the key ${quote(key)}, which cannot be set`);
    if (!value.ok) return problem(`the value of ${quote(key)} in ${named} is not a header value`);
    fields.push({ name: field.value, value: value.value });
  }
  return ok(fields);
}
