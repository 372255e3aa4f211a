import type { HeaderModifier } from "@svc-gateway/common/features/header-modifier.ts";
import { FieldBlock } from "../message/field-block.ts";
import type { Fields } from "../message/fields.ts";

/**
 * Compiles changes to header fields. Setting, then adding, then removing is equivalent to dropping some names and
 * appending some fields, which is done in place and in one pass.
 */
export function compileHeaderModifier(modifier: HeaderModifier): (headers: Fields) => void {
  const { set = [], add = [], remove = [] } = modifier;
  const lastSet = new Map(set.map((field) => [field.name.toLowerCase(), field]));
  const removed = new Set(remove.map((name) => name.toLowerCase()));
  const dropped = new Set([...lastSet.keys(), ...removed]);
  const appended = new FieldBlock(
    [...lastSet.values(), ...add]
      .filter(({ name }) => !removed.has(name.toLowerCase()))
      .flatMap(({ name, value }) => [name, value]),
  );
  return (headers) => {
    if (dropped.size > 0) headers.remove(dropped);
    headers.appendBlock(appended);
  };
}
