/** The path of a `location` block, if it can be read. */
import { compileRegex } from "@svc-gateway/common/values/regex.ts";

/**
 * The requests that a location receives. `exact` and `beginning` compare the text of the path; `regex` is an
 * RE2 pattern that matches anywhere in the path. With `isFirst`, the location precedes regular expressions.
 */
export type LocationPath = {
  readonly type: "exact" | "beginning" | "regex";
  readonly value: string;
  readonly isFirst?: true;
};

const maxLength = 1_024;

/** Reads the words after `location`; undefined for a named location, and for a path that cannot be matched here. */
export function locationPathOf(words: readonly string[]): LocationPath | undefined {
  const [first = "", second] = words;
  if (words.length === 1) {
    // A modifier can be joined to its path without a blank.
    const [, modifier, path] = /^(\^~|~\*|~|=)(.+)$/s.exec(first) ?? [];
    return modifier === undefined || path === undefined
      ? literal("beginning", first)
      : locationPathOf([modifier, path]);
  }
  if (words.length !== 2 || second === undefined) return undefined;
  switch (first) {
    case "=":
      return literal("exact", second);
    case "^~": {
      const path = literal("beginning", second);
      return path && { ...path, isFirst: true };
    }
    case "~":
      return regex(second);
    case "~*":
      return regex(`(?i)${second}`);
    default:
      return undefined;
  }
}

/** A literal path. No path contains control characters or variables. */
const literal = (type: "exact" | "beginning", value: string): LocationPath | undefined =>
  value.startsWith("/") && value.length <= maxLength && /^[^\s$\p{Cc}]+$/u.test(value)
    ? { type, value }
    : undefined;

const regex = (value: string): LocationPath | undefined =>
  value.length <= maxLength && compileRegex(value, { whole: false }).ok
    ? { type: "regex", value }
    : undefined;
