import { plainName } from "../message/field-list.ts";
import type { Fields } from "../message/fields.ts";

/**
 * Compiles the removal, in place, of fields with which a client could claim another identity. Names match in any case,
 * and with `_` for `-`, which some servers treat as equal.
 */
export function compileIdentityStripper(
  names: readonly string[],
): (headers: Pick<Fields, "removeThat">) => void {
  if (names.length === 0) return () => {};
  const stripped = new Set(names.map(plainName));
  const lengths = new Set(names.map(({ length }) => length));
  const isStripped = (name: string): boolean => lengths.has(name.length) && stripped.has(plainName(name));
  return (headers) => headers.removeThat(isStripped);
}
