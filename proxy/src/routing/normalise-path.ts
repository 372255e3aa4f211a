import type { PathLevel } from "@svc-gateway/common/features/path-normalize.ts";
import { mergeSlashes, removeDotSegments } from "@svc-gateway/common/values/path-segments.ts";

const SPACE = 0x20;
const HASH = 0x23;
const PERCENT = 0x25;
const DOT = 0x2e;
const SLASH = 0x2f;
const BACKSLASH = 0x5c;
const DELETE = 0x7f;

/** Characters that never need percent-encoding (RFC 3986 2.3). */
const unreserved = new Uint8Array(128);
for (const char of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~") {
  unreserved[char.charCodeAt(0)] = 1;
}

/**
 * Returns the canonical form of a request path (without query), which is matched and forwarded. The result is undefined
 * if the path must be refused: it does not start with `/`, or contains a control character, a space, `#`, a character
 * outside ASCII, a malformed percent escape or `%00`. A path that is already canonical is returned unchanged, after one
 * scan. Canonical paths are fixed points, start with `/` and contain no dot segment. See
 * docs/features/path-normalize.md.
 */
export function normalisePath(path: string, level: PathLevel): string | undefined {
  const { length } = path;
  if (path.charCodeAt(0) !== SLASH) return undefined;
  const merges = level !== "base";
  let previous = 0;
  for (let i = 0; i < length; i++) {
    const code = path.charCodeAt(i);
    switch (code) {
      case HASH:
        return undefined;
      case PERCENT:
      case BACKSLASH:
        return rewritePath(path, level);
      case DOT:
        if (previous === SLASH && mayEndDotSegment(path, i + 1)) return rewritePath(path, level);
        break;
      case SLASH:
        if (merges && previous === SLASH) return rewritePath(path, level);
        break;
      default:
        if (code <= SPACE || code >= DELETE) return undefined;
    }
    previous = code;
  }
  return path;
}

/** The length up to which a loop is faster than a regex. */
const shortLength = 64;

/** Reports whether a query can be forwarded: `#` ends it for some servers, and a URI contains only ASCII. */
export function isCleanQuery(query: string): boolean {
  if (query.length > shortLength) return !/[^!-~]|#/.test(query);
  for (let i = 0; i < query.length; i++) {
    const code = query.charCodeAt(i);
    if (code <= SPACE || code === HASH || code >= DELETE) return false;
  }
  return true;
}

/** Reports whether a segment that began with a dot might be a dot segment, and not a name such as `.well-known`. */
function mayEndDotSegment(path: string, index: number): boolean {
  if (index === path.length) return true;
  const code = path.charCodeAt(index);
  return code === SLASH || code === DOT || code === BACKSLASH || code === PERCENT;
}

function rewritePath(path: string, level: PathLevel): string | undefined {
  const decoded = decodePath(path, level === "decode-and-merge-slashes");
  if (decoded === undefined) return undefined;
  const plain = decoded.includes("/.") ? removeDotSegments(decoded) : decoded;
  return level === "base" ? plain : mergeSlashes(plain);
}

/**
 * Decodes escapes of unreserved characters, and replaces `\` by `/`. With `slashes`, also decodes `%2f` and `%5c`, both
 * to `/`. All other escapes are unchanged. Returns undefined for a path that must be refused.
 */
function decodePath(path: string, slashes: boolean): string | undefined {
  let out = "";
  let copied = 0;
  for (let i = 0; i < path.length; i++) {
    const code = path.charCodeAt(i);
    if (code <= SPACE || code === HASH || code >= DELETE) return undefined;
    if (code === BACKSLASH) {
      out += `${path.slice(copied, i)}/`;
      copied = i + 1;
    } else if (code === PERCENT) {
      const octet = hexDigit(path, i + 1) * 16 + hexDigit(path, i + 2);
      if (!(octet > 0)) return undefined;
      if (unreserved[octet] === 1 || (slashes && (octet === SLASH || octet === BACKSLASH))) {
        out += path.slice(copied, i) + (octet === BACKSLASH ? "/" : String.fromCharCode(octet));
        copied = i + 3;
      }
      i += 2;
    }
  }
  return copied === 0 ? path : out + path.slice(copied);
}

/** Returns the value of the hexadecimal digit at `index`; NaN if there is none. */
function hexDigit(text: string, index: number): number {
  const code = text.charCodeAt(index);
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : Number.NaN;
}
