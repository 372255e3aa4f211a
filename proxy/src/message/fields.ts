/** Reading and changing single fields of a header list. Names are compared without case (RFC 9110 5.1). */
import type { HeaderList, ReadonlyHeaderList } from "./message.ts";

/**
 * The value of a field, its lines joined in order by `, ` (RFC 9110 5.3); undefined when it is absent. `name` is
 * lower case.
 */
export function joinedField(headers: ReadonlyHeaderList, name: string): string | undefined {
  let joined: string | undefined;
  for (let i = 0; i < headers.length; i += 2) {
    if (!isNamed(headers[i] as string, name)) continue;
    const value = headers[i + 1] as string;
    joined = joined === undefined ? value : `${joined}, ${value}`;
  }
  return joined;
}

/** Gives the last field of that name another value; without one, appends it. */
export function replaceField(headers: HeaderList, name: string, value: string): void {
  const lower = name.toLowerCase();
  for (let i = headers.length - 2; i >= 0; i -= 2) {
    if (!isNamed(headers[i] as string, lower)) continue;
    headers[i + 1] = value;
    return;
  }
  headers.push(name, value);
}

/** Takes away all fields of these names, which are in lower case, in one pass and in place. */
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

/** Puts fields in place of those of the same names, except for cookies, of which there may be any number: they are added. */
export function putFields(headers: HeaderList, fields: HeaderList): void {
  const replaced = new Set<string>();
  for (let i = 0; i < fields.length; i += 2) replaced.add((fields[i] as string).toLowerCase());
  replaced.delete("set-cookie");
  if (replaced.size > 0) dropFields(headers, replaced);
  headers.push(...fields);
}

/** A name as it is compared where a client could pass for somebody else: some servers take `_` for `-`. */
export const plainName = (name: string): string => name.toLowerCase().replaceAll("_", "-");

/** Says that the response depends on this field of the request, unless it says so already (RFC 9110 12.5.5). */
export function addToVary(headers: HeaderList, name: string): void {
  const named = (joinedField(headers, "vary") ?? "").toLowerCase().split(/[\s,]+/);
  if (!named.includes("*") && !named.includes(name.toLowerCase())) headers.push("Vary", name);
}

const isNamed = (name: string, lower: string): boolean =>
  name.length === lower.length && name.toLowerCase() === lower;
