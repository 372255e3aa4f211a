/**
 * The decoded form of paths, in which hosts with `matchPaths: "decoded"` compare them (docs/routing.md, "Paths"). Each
 * character stands for one octet, so that encoding it again gives the octets that the client sent, in any character set.
 */
import { decodeOctets, escapeOctet } from "@svc-gateway/common/values/percent-escapes.ts";
import { mergeSlashes, removeDotSegments } from "./normalise-path.ts";

/** A canonical path with all escapes decoded, slashes merged and then dot segments removed. */
export function decodedPath(path: string): string {
  if (!path.includes("%")) return path.includes("//") ? mergeSlashes(path) : path;
  const merged = mergeSlashes(decodeOctets(path));
  return merged.includes("/.") ? removeDotSegments(merged) : merged;
}

const encoded = /[^\w\-.~!$&'()*+,;=:@/[\]]/g;

/** A piece of a decoded path as it goes into a URL (RFC 3986 3.3). */
export const encodedPath = (decoded: string): string => decoded.replaceAll(encoded, escapeOctet);

/** Text of a rule, such as a regular expression, with its characters beyond ASCII as the octets of UTF-8. */
export const asOctets = (text: string): string =>
  /[^\0-\u007f]/.test(text) ? Buffer.from(text, "utf8").toString("latin1") : text;
