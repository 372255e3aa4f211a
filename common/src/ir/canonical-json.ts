/**
 * Returns the JSON text of a value in the form of RFC 8785: names in the order of their UTF-16 code units, no white
 * space. Strings and numbers are written as by ECMAScript, which the RFC requires. Lone surrogates, which it rejects,
 * are written as escapes. Names without a value (undefined) are omitted.
 */
export function canonicalJson(value: object): string {
  if (isInOrder(value)) return JSON.stringify(value);
  const ordered = inOrder(value);
  return ordered === undefined ? written(value) : JSON.stringify(ordered);
}

/** Whether all names are already in order, as in most values; checked without allocating. */
function isInOrder(value: unknown): boolean {
  if (value === null || typeof value !== "object") return true;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) if (!isInOrder(value[index])) return false;
    return true;
  }
  let last = "";
  for (const name in value) {
    if (name < last || isMoved(name) || !isInOrder((value as Fields)[name])) return false;
    last = name;
  }
  return true;
}

/** A copy of the value with all names in order; undefined where an object cannot have its names in that order. */
function inOrder(value: unknown): unknown {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return listInOrder(value);
  const fields = value as Fields;
  const names = Object.keys(fields);
  if (names.some(isMoved)) return undefined;
  sortNames(names);
  const result: Record<string, unknown> = {};
  for (const name of names) {
    const field = fields[name];
    if (field === undefined) continue;
    const ordered = inOrder(field);
    if (ordered === undefined) return undefined;
    result[name] = ordered;
  }
  return result;
}

function listInOrder(list: readonly unknown[]): readonly unknown[] | undefined {
  const result: unknown[] = [];
  for (const item of list) {
    const ordered = inOrder(item ?? null);
    if (ordered === undefined) return undefined;
    result.push(ordered);
  }
  return result;
}

/** Sorts names in place. Objects have few names, mostly in order already, and `sort` would allocate for each list. */
function sortNames(names: string[]): void {
  if (names.length > fewNames) return void names.sort();
  for (let index = 1; index < names.length; index++) {
    const name = names[index] as string;
    let at = index;
    for (; at > 0 && (names[at - 1] as string) > name; at--) names[at] = names[at - 1] as string;
    names[at] = name;
  }
}

const fewNames = 16;

type Fields = { readonly [name: string]: unknown };

/**
 * Whether an object cannot keep a name in its place: names that are numbers are listed first, and `__proto__` sets the
 * prototype.
 */
const isMoved = (name: string): boolean => name === "__proto__" || isDigit(name.charCodeAt(0));

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;

/** Returns the same text, assembled piece by piece. */
function written(value: unknown): string {
  if (value === null || value === undefined) return "null";
  if (typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(written).join(",")}]`;
  const fields = Object.entries(value as Fields).filter(([, field]) => field !== undefined);
  fields.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${written(field)}`).join(",")}}`;
}
