import type { Fields } from "./fields.ts";

/**
 * Returns the value of the first cookie of that name (RFC 6265 4.2, and 9113 8.2.3 for several fields), or of the first
 * whose value `isWanted`; undefined if absent. Names are case-sensitive, and quotes are part of the value. Clients send
 * several cookies of a name that differ in path or domain.
 */
export function cookieValue(
  headers: Pick<Fields, "all">,
  name: string,
  isWanted?: (value: string) => boolean,
): string | undefined {
  for (const line of headers.all("cookie")) {
    const value = valueIn(line, name, isWanted);
    if (value !== undefined) return value;
  }
  return undefined;
}

function valueIn(cookies: string, name: string, isWanted?: (value: string) => boolean): string | undefined {
  let start = 0;
  while (start < cookies.length) {
    const semicolon = cookies.indexOf(";", start);
    const end = semicolon < 0 ? cookies.length : semicolon;
    while (start < end && isSpace(cookies.charCodeAt(start))) start++;
    if (cookies.startsWith(name, start) && cookies.charCodeAt(start + name.length) === equals) {
      const value = cookies.slice(start + name.length + 1, end).trimEnd();
      if (isWanted?.(value) !== false) return value;
    }
    start = end + 1;
  }
  return undefined;
}

const equals = 0x3d;
const isSpace = (code: number): boolean => code === 0x20 || code === 0x09;
