import { plainName } from "../message/field-list.ts";
import type { Fields } from "../message/fields.ts";

/**
 * Removes, in place, fields with which a client could claim another identity: those of these names in any case, and with
 * `_` in place of `-`, which some servers treat alike.
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
