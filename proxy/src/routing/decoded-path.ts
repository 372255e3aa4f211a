/**
 * The decoded form of paths, in which hosts with `matchPaths: "decoded"` compare them (docs/routing.md, "Paths"). Each
 * character stands for one octet, so that encoding it again gives the octets that the client sent, in any character set.
 */
import { mergeSlashes, removeDotSegments } from "./normalise-path.ts";

const escape = /%([0-9A-Fa-f]{2})/g;

/** A canonical path with all escapes decoded, slashes merged and then dot segments removed. */
export function decodedPath(path: string): string {
  if (!path.includes("%")) return path.includes("//") ? mergeSlashes(path) : path;
  const decoded = path.replaceAll(escape, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  const merged = mergeSlashes(decoded);
  return merged.includes("/.") ? removeDotSegments(merged) : merged;
}

const encoded = /[^\w\-.~!$&'()*+,;=:@/[\]]/g;

/** A piece of a decoded path as it goes into a URL (RFC 3986 3.3). */
export const encodedPath = (decoded: string): string =>
  decoded.replaceAll(encoded, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`);

/** Text of a rule, such as a regular expression, with its characters beyond ASCII as the octets of UTF-8. */
export const asOctets = (text: string): string =>
  /[^\0-\u007f]/.test(text) ? Buffer.from(text, "utf8").toString("latin1") : text;
