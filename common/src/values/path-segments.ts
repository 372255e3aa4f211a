/** Segments of paths that begin with `/`, as requests are normalised (docs/features/path-normalize.md). */
import { decodeOctets } from "./percent-escapes.ts";

/** Returns the path with a single slash instead of several in a row. */
export const mergeSlashes = (path: string): string => path.replaceAll(/\/{2,}/g, "/");

/** Removes dot segments (RFC 3986 5.2.4) from a path that starts with `/`. Empty segments count as segments. */
export function removeDotSegments(path: string): string {
  const kept: string[] = [];
  const segments = path.slice(1).split("/");
  const last = segments.length - 1;
  for (const [index, segment] of segments.entries()) {
    if (segment === "..") kept.pop();
    if (segment === "." || segment === "..") {
      if (index === last) kept.push("");
    } else {
      kept.push(segment);
    }
  }
  return `/${kept.join("/")}`;
}

/**
 * Returns a canonical path with all escapes decoded, slashes merged and then dot segments removed: the form in which
 * hosts with `matchPaths: "decoded"` compare paths (docs/routing.md, "Paths"). Each character represents one octet, so
 * that encoding restores the octets that the client sent, in any character set.
 */
export function decodedPath(path: string): string {
  if (!path.includes("%")) return path.includes("//") ? mergeSlashes(path) : path;
  const merged = mergeSlashes(decodeOctets(path));
  return merged.includes("/.") ? removeDotSegments(merged) : merged;
}
