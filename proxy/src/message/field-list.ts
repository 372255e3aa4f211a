/**
 * Functions that read and change header lists, such as trailers. Names are compared without case (RFC 9110 5.1); names
 * passed as arguments must be in lower case.
 */
/**
 * A flat list `[name, value, name, value, ...]` that keeps order, repetition and names as received. Used where fields
 * are few or rare: trailers, informational responses, added fields. The fields of heads are `Fields` (fields.ts).
 */
export type HeaderList = string[];
export type ReadonlyHeaderList = readonly string[];

/**
 * Returns the value of a field, with its lines joined in order by `separator` (RFC 9110 5.3); undefined if the field is
 * absent.
 */
export function joinedField(
  headers: ReadonlyHeaderList,
  name: string,
  separator: ", " | "," | "; " = ", ",
): string | undefined {
  let joined: string | undefined;
  for (let i = 0; i < headers.length; i += 2) {
    if (!isNamed(headers[i] as string, name)) continue;
    const value = headers[i + 1] as string;
    joined = joined === undefined ? value : joined + separator + value;
  }
  return joined;
}

/** The value of the first line of a field; undefined when it is absent. */
export function firstField(headers: ReadonlyHeaderList, name: string): string | undefined {
  for (let i = 0; i < headers.length; i += 2) {
    if (isNamed(headers[i] as string, name)) return headers[i + 1] as string;
  }
  return undefined;
}

/** The values of the lines of a field, in order. */
export function fieldLines(headers: ReadonlyHeaderList, name: string): readonly string[] {
  let lines: string[] | undefined;
  for (let i = 0; i < headers.length; i += 2) {
    if (isNamed(headers[i] as string, name)) (lines ??= []).push(headers[i + 1] as string);
  }
  return lines ?? none;
}

const none: readonly string[] = [];

/** Returns the fields as pairs, in order. Allocates, so not for use on every message. */
export function fieldPairs(headers: ReadonlyHeaderList): [name: string, value: string][] {
  const pairs: [string, string][] = [];
  for (let i = 0; i < headers.length; i += 2) pairs.push([headers[i] as string, headers[i + 1] as string]);
  return pairs;
}

/** Returns the names of the fields, converted by `spell`: to lower case by default. */
export function fieldNames(headers: ReadonlyHeaderList, spell = lowerCase): Set<string> {
  const names = new Set<string>();
  for (let i = 0; i < headers.length; i += 2) names.add(spell(headers[i] as string));
  return names;
}

const lowerCase = (name: string): string => name.toLowerCase();

/**
 * Reports whether a name in any case is one of `names`, which are in lower case. Allocates nothing if no length
 * matches.
 */
export function isOneOf(names: ReadonlySet<string>, name: string): boolean {
  for (const one of names) if (one.length === name.length) return names.has(name.toLowerCase());
  return false;
}

/** Reports whether `isWanted` returns true for the name of a field, as it was sent. */
export function hasNameThat(list: ReadonlyHeaderList, isWanted: (name: string) => boolean): boolean {
  for (let i = 0; i < list.length; i += 2) if (isWanted(list[i] as string)) return true;
  return false;
}

/** Returns the fields for which `isKept` returns true; it gets names as they were sent. */
export function keptFields(
  headers: ReadonlyHeaderList,
  isKept: (name: string, value: string) => boolean,
): HeaderList {
  const kept: HeaderList = [];
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string;
    const value = headers[i + 1] as string;
    if (isKept(name, value)) kept.push(name, value);
  }
  return kept;
}

/** Removes all fields of these names, in one pass and in place. */
function dropFields(headers: HeaderList, names: ReadonlySet<string>): void {
  let kept = 0;
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string;
    if (names.has(name.toLowerCase())) continue;
    headers[kept] = name;
    headers[kept + 1] = headers[i + 1] as string;
    kept += 2;
  }
  headers.length = kept;
}

/** Replaces all fields of the same names with these; Set-Cookie fields are added, since there may be several. */
export function putFields(headers: HeaderList, fields: ReadonlyHeaderList): void {
  const replaced = fieldNames(fields);
  replaced.delete("set-cookie");
  if (replaced.size > 0) dropFields(headers, replaced);
  headers.push(...fields);
}

/** Returns a name in the form used to compare identity headers, since some servers treat `_` like `-`. */
export const plainName = (name: string): string => name.toLowerCase().replaceAll("_", "-");

const isNamed = (name: string, lower: string): boolean =>
  name.length === lower.length && (name === lower || name.toLowerCase() === lower);

/** Returns the octets of all names and values, plus `perField` for each field. */
export function octetsOfList(list: ReadonlyHeaderList, perField: number): number {
  let octets = (list.length / 2) * perField;
  for (let i = 0; i < list.length; i++) octets += (list[i] as string).length;
  return octets;
}
