/**
 * Reading and changing the fields of header lists. Names are compared without case (RFC 9110 5.1); those that functions
 * take are in lower case. Everything here works on the flat list; only the codecs, which look at each field of every
 * message for many things at once, walk it themselves.
 */
import type { HeaderList, ReadonlyHeaderList } from "./message.ts";

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

/** The value of Cookie, its lines joined by `; ` (RFC 9113 8.2.3); undefined when it is absent. */
export const joinedCookies = (headers: ReadonlyHeaderList): string | undefined =>
  joinedField(headers, "cookie", "; ");

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

/** Takes away all fields that `isDropped` takes, which sees names as they were sent; in one pass and in place. */
export function dropFieldsThat(headers: HeaderList, isDropped: (name: string) => boolean): void {
  let kept = 0;
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string;
    if (isDropped(name)) continue;
    headers[kept] = name;
    headers[kept + 1] = headers[i + 1] as string;
    kept += 2;
  }
  headers.length = kept;
}

/** Takes away all fields of these names, in one pass and in place. A loop of its own, because a call per field is felt. */
export function dropFields(headers: HeaderList, names: ReadonlySet<string>): void {
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

/** Gives the last field of that name, which may be in any case, another value; without one, appends it. */
export function replaceField(headers: HeaderList, name: string, value: string): void {
  const lower = name.toLowerCase();
  for (let i = headers.length - 2; i >= 0; i -= 2) {
    if (!isNamed(headers[i] as string, lower)) continue;
    headers[i + 1] = value;
    return;
  }
  headers.push(name, value);
}

/** Puts fields in place of those of the same names, except for cookies, of which there may be any number: they are added. */
export function putFields(headers: HeaderList, fields: HeaderList): void {
  const replaced = fieldNames(fields);
  replaced.delete("set-cookie");
  if (replaced.size > 0) dropFields(headers, replaced);
  headers.push(...fields);
}

/** A name in the form in which identity headers are compared: some servers treat `_` like `-`. */
export const plainName = (name: string): string => name.toLowerCase().replaceAll("_", "-");

/** Says that the response depends on this field of the request, unless it says so already (RFC 9110 12.5.5). */
export function addToVary(headers: HeaderList, name: string): void {
  const named = (joinedField(headers, "vary") ?? "").toLowerCase().split(/[\s,]+/);
  if (!named.includes("*") && !named.includes(name.toLowerCase())) headers.push("Vary", name);
}

const isNamed = (name: string, lower: string): boolean =>
  name.length === lower.length && (name === lower || name.toLowerCase() === lower);
