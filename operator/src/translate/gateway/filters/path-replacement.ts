/** The canonical form of the replacement of a PathRewriteRegex. See docs/features/rewrite-target.md. */
import { hasGroupReference, splitAtGroups } from "@svc-gateway/common/features/rewrite-target.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import { canonicalPath } from "../../ingress/path.ts";
import { quote } from "../../text.ts";

/** Whether every match of the pattern begins, or ends, where the path does. */
type Edges = { readonly atStart: boolean; readonly atEnd: boolean };

/**
 * Returns the replacement with escapes of unreserved characters decoded and dot segments removed, as far as that depends
 * neither on the content of groups nor on the path around the match. The error is a replacement with which every
 * rewritten path would be rejected.
 */
export function canonicalReplacement(replacement: string, pattern: string): Result<string> {
  const text = joinGroups(
    splitAtGroups(replacement).map((part) => (typeof part === "number" ? part : canonicalPath(part))),
  );
  if (text.includes("%00")) return problem(`${quote(replacement)} has a NUL character`);
  if (countReferences(text) !== countReferences(replacement)) {
    return problem(
      `${quote(replacement)} has the escape of a digit after a dollar sign, which would refer to a group`,
      "%24 instead of that dollar sign",
    );
  }
  const plain = text.includes(".") ? withoutDotSegments(text, edgesOf(pattern)) : text;
  return plain === undefined
    ? problem(
        `${quote(replacement)} has a segment ".." that removes none of its own segments`,
        'a replacement without ".."',
      )
    : ok(plain);
}

const countReferences = (text: string): number =>
  splitAtGroups(text).filter((part) => typeof part === "number").length;

/** A number that is greater than that of any group, and has no exponent when it is written. */
const beyondGroups = 1_000_000;

/** Writes the parts as one text. A number is in braces where a digit follows it. */
const joinGroups = (parts: readonly (string | number)[]): string =>
  parts
    .map((part, index) => {
      if (typeof part === "string") return part;
      const number = Math.min(part, beyondGroups);
      return /^\d/.test(String(parts[index + 1] ?? "")) ? `\${${number}}` : `$${number}`;
    })
    .join("");

/** Patterns with alternatives or quoted text are not examined: their anchors may apply to a part only. */
function edgesOf(pattern: string): Edges {
  if (/\||\\Q/.test(pattern)) return { atStart: false, atEnd: false };
  return { atStart: /^\^(?![*?{])/.test(pattern), atEnd: /(?:^|[^\\])(?:\\\\)*\$$/.test(pattern) };
}

/**
 * Removes dot segments (RFC 3986 5.2.4). The first and the last segment continue in the path around the match, unless
 * that ends there. Returns undefined if a segment cannot be removed because it is not in the text, or has a group.
 */
function withoutDotSegments(text: string, { atStart, atEnd }: Edges): string | undefined {
  const segments = text.split("/");
  const last = segments.length - 1;
  const kept: string[] = [];
  // The first segment is not removed: it is empty before the first slash, or continues a segment of the path.
  const fixed = text.startsWith("/") || !atStart ? 1 : 0;
  for (const [index, segment] of segments.entries()) {
    const isWhole = (index > 0 || atStart) && (index < last || atEnd);
    if (!isWhole || (segment !== "." && segment !== "..")) {
      kept.push(segment);
      continue;
    }
    if (segment === ".." && kept.length > fixed) {
      if (hasGroupReference(kept.at(-1) ?? "")) return undefined;
      kept.pop();
    } else if (segment === ".." && !atStart) {
      return undefined;
    }
    if (index === last) kept.push("");
  }
  return kept.join("/");
}
