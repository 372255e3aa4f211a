import { plainName } from "../message/fields.ts";
import type { HeaderList } from "../message/message.ts";

/**
 * Removes, in place, fields with which a client could claim another identity: those of these names in any case, and with
 * `_` in place of `-`, which some servers treat alike.
 */
export function compileIdentityStripper(names: readonly string[]): (headers: HeaderList) => void {
  if (names.length === 0) return () => {};
  const stripped = new Set(names.map(plainName));
  const lengths = new Set(names.map(({ length }) => length));
  return (headers) => {
    let kept = 0;
    for (let i = 0; i < headers.length; i += 2) {
      const name = headers[i] as string;
      if (lengths.has(name.length) && stripped.has(plainName(name))) continue;
      headers[kept] = name;
      headers[kept + 1] = headers[i + 1] as string;
      kept += 2;
    }
    headers.length = kept;
  };
}
