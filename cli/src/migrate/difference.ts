/** Finds the differences between two values, by the path of the property. */

type Value = { readonly [name: string]: unknown };

/** The paths of different properties, as in `features.retry.codes[0]`. Lists of unequal length differ as a whole. */
export function differencesOf(before: unknown, after: unknown, path = ""): readonly string[] {
  if (Object.is(before, after)) return [];
  if (Array.isArray(before) && Array.isArray(after)) {
    if (before.length !== after.length) return [path];
    return before.flatMap((item, at) => differencesOf(item, (after as unknown[])[at], `${path}[${at}]`));
  }
  if (!isRecord(before) || !isRecord(after)) return [path];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return names.flatMap((name) =>
    differencesOf(before[name], after[name], path === "" ? name : `${path}.${name}`),
  );
}

const isRecord = (value: unknown): value is Value =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Whether a property equals another one or is a part of it. */
export const isWithin = (property: string, whole: string): boolean =>
  property.startsWith(whole) && ["", ".", "["].includes(property.charAt(whole.length));
