import type { Fields } from "./fields.ts";

/**
 * Returns the value of the first cookie of that name (RFC 6265 4.2, and 9113 8.2.3 for several fields); undefined if
 * absent. Names are case-sensitive, and quotes are part of the value.
 */
export function cookieValue(headers: Pick<Fields, "all">, name: string): string | undefined {
  for (const line of headers.all("cookie")) {
    const value = valueIn(line, name);
    if (value !== undefined) return value;
  }
  return undefined;
}

function valueIn(cookies: string, name: string): string | undefined {
  let start = 0;
  while (start < cookies.length) {
    const semicolon = cookies.indexOf(";", start);
    const end = semicolon < 0 ? cookies.length : semicolon;
    while (start < end && isSpace(cookies.charCodeAt(start))) start++;
    if (cookies.startsWith(name, start) && cookies.charCodeAt(start + name.length) === equals) {
      return cookies.slice(start + name.length + 1, end).trimEnd();
    }
    start = end + 1;
  }
  return undefined;
}

const equals = 0x3d;
const isSpace = (code: number): boolean => code === 0x20 || code === 0x09;
