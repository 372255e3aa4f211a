import type { HeaderModifier } from "@svc-gateway/common/features/header-modifier.ts";
import { dropFields } from "../message/fields.ts";
import type { HeaderList } from "../message/message.ts";

/**
 * Prepares changes to header fields: set, then add, then remove are equal to dropping some names and appending some fields,
 * which is done in one pass and in place.
 */
export function compileHeaderModifier(modifier: HeaderModifier): (headers: HeaderList) => void {
  const { set = [], add = [], remove = [] } = modifier;
  const lastSet = new Map(set.map((field) => [field.name.toLowerCase(), field]));
  const removed = new Set(remove.map((name) => name.toLowerCase()));
  const dropped = new Set([...lastSet.keys(), ...removed]);
  const appended = [...lastSet.values(), ...add]
    .filter(({ name }) => !removed.has(name.toLowerCase()))
    .flatMap(({ name, value }) => [name, value]);
  return (headers) => {
    if (dropped.size > 0) dropFields(headers, dropped);
    for (const text of appended) headers.push(text);
  };
}
