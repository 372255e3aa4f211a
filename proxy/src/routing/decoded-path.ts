/**
 * The decoded form of paths, in which hosts with `matchPaths: "decoded"` compare them (docs/routing.md, "Paths"). Each
 * character represents one octet, so that encoding restores the octets that the client sent, in any character set.
 */
import { decodeOctets, escapeOctet } from "@svc-gateway/common/values/percent-escapes.ts";
import { mergeSlashes, removeDotSegments } from "./normalise-path.ts";

/** Returns a canonical path with all escapes decoded, slashes merged and then dot segments removed. */
export function decodedPath(path: string): string {
  if (!path.includes("%")) return path.includes("//") ? mergeSlashes(path) : path;
  const merged = mergeSlashes(decodeOctets(path));
  return merged.includes("/.") ? removeDotSegments(merged) : merged;
}

const encoded = /[^\w\-.~!$&'()*+,;=:@/[\]]/g;

/** Encodes a piece of a decoded path for a URL (RFC 3986 3.3). */
export const encodedPath = (decoded: string): string => decoded.replaceAll(encoded, escapeOctet);

/** Returns the text of a rule, such as a regex, with characters outside ASCII replaced by their octets in UTF-8. */
export const asOctets = (text: string): string =>
  /[^\0-\u007f]/.test(text) ? Buffer.from(text, "utf8").toString("latin1") : text;
