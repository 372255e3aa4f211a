import { ownText } from "./own-text.ts";

/** The longest names that are kept, in UTF-16 units, and how many. */
type Limits = { readonly maxLength: number; readonly maxNames: number };

/** Longer names are rare. */
const forFields: Limits = { maxLength: 64, maxNames: 4096 };

/**
 * Remembers a value per field name: the same few spellings come again and again. Untrusted clients choose the names, so the
 * memory is bounded in bytes as well (about half a megabyte), and is emptied when it is full: names that were made up to
 * fill it cannot keep the others out.
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
