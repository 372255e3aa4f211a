/**
 * Reading and changing header lists, such as trailers. Names are compared without case (RFC 9110 5.1); those that functions
 * take are in lower case.
 */
/**
 * A flat list `[name, value, name, value, ...]`: order and repetition are kept, names as received. For what has few fields or is
 * rare: trailers, informational responses, what is added. The fields of heads are `Fields` (fields.ts).
 */
export type HeaderList = string[];
export type ReadonlyHeaderList = readonly string[];

/**
 * The value of a field, its lines joined in order (RFC 9110 5.3), by `, ` unless `separator` says otherwise; undefined
 * when it is absent.
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

/** The fields as pairs, in order; for what is not done for every message. */
export function fieldPairs(headers: ReadonlyHeaderList): [name: string, value: string][] {
  const pairs: [string, string][] = [];
  for (let i = 0; i < headers.length; i += 2) pairs.push([headers[i] as string, headers[i + 1] as string]);
  return pairs;
}

/** The names of the fields, in lower case unless they are to be spelt in another way. */
export function fieldNames(headers: ReadonlyHeaderList, spell = lowerCase): Set<string> {
  const names = new Set<string>();
  for (let i = 0; i < headers.length; i += 2) names.add(spell(headers[i] as string));
  return names;
}

const lowerCase = (name: string): string => name.toLowerCase();

/** Whether a name as it was sent is one of these, which are in lower case; nothing is built for names of other lengths. */
export function isOneOf(names: ReadonlySet<string>, name: string): boolean {
  for (const one of names) if (one.length === name.length) return names.has(name.toLowerCase());
  return false;
}

/** Whether there is a field whose name, as it was sent, `isWanted` takes. */
export function hasNameThat(list: ReadonlyHeaderList, isWanted: (name: string) => boolean): boolean {
  for (let i = 0; i < list.length; i += 2) if (isWanted(list[i] as string)) return true;
  return false;
}

/** A list of the fields that `isKept` takes, which sees names as they were sent. */
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

/** Takes away all fields of these names, in one pass and in place. */
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

/** Puts fields in place of those of the same names, except for cookies, of which there may be any number: they are added. */
export function putFields(headers: HeaderList, fields: ReadonlyHeaderList): void {
  const replaced = fieldNames(fields);
  replaced.delete("set-cookie");
  if (replaced.size > 0) dropFields(headers, replaced);
  headers.push(...fields);
}

/** A name in the form in which identity headers are compared: some servers treat `_` like `-`. */
export const plainName = (name: string): string => name.toLowerCase().replaceAll("_", "-");

const isNamed = (name: string, lower: string): boolean =>
  name.length === lower.length && (name === lower || name.toLowerCase() === lower);

/** The octets of all names and values, and `perField` for each field. */
export function octetsOfList(list: ReadonlyHeaderList, perField: number): number {
  let octets = (list.length / 2) * perField;
  for (let i = 0; i < list.length; i++) octets += (list[i] as string).length;
  return octets;
}
