import { ownText } from "./own-text.ts";

/** The length of the longest names that are kept, in UTF-16 units, and their number. */
type Limits = { readonly maxLength: number; readonly maxNames: number };

/** Longer names are rare. */
const forFields: Limits = { maxLength: 64, maxNames: 4096 };

/**
 * Memoises a function of a field name, since the same few spellings recur. Untrusted clients choose the names, so the
 * memory is also bounded in bytes (about half a megabyte). It is cleared when it is full, so that names invented to
 * fill it cannot keep others out.
 */
export function memoByName<Value>(
  compute: (name: string) => Value,
  { maxLength, maxNames } = forFields,
): (name: string) => Value {
  const known = new Map<string, Value>();
  return (name) => {
    const found = known.get(name);
    if (found !== undefined) return found;
    const value = compute(name);
    if (name.length > maxLength) return value;
    if (known.size >= maxNames) known.clear();
    known.set(ownText(name), value);
    return value;
  };
}
