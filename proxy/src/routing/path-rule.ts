import type { PathLevel } from "@svc-gateway/common/features/path-normalize.ts";
import type { PathMatch } from "@svc-gateway/common/ir/match.ts";
import { decodedPath } from "@svc-gateway/common/values/path-segments.ts";
import { ok, type Result } from "@svc-gateway/common/values/result.ts";
import { testWithinBudget } from "./regex-budget.ts";
import { asOctets } from "./decoded-path.ts";
import { normalisePath } from "./normalise-path.ts";
import { upperCaseEscapes } from "@svc-gateway/common/values/percent-escapes.ts";
import { compileRegex, type Regex } from "@svc-gateway/common/values/regex.ts";
import { literalBeginning, withoutAnchor } from "@svc-gateway/common/values/regex-literal.ts";

/**
 * A compiled path match. `text` is canonical, with its escapes in upper case. That of a prefix has no trailing slash
 * (`/` is the empty text).
 */
export type PathRule =
  | { readonly type: "exact"; readonly text: string }
  | { readonly type: "prefix"; readonly text: string }
  | {
      readonly type: "regex";
      /** The regex; undefined if `start` is all that it requires. */
      readonly regex: Regex | undefined;
      /** The pattern as compiled. */
      readonly pattern: string;
      readonly whole: boolean;
      /** The text with which a path in lower case must begin to match; undefined if unknown. Avoids most tests. */
      readonly start: string | undefined;
    };

/** The form in which paths of a host are compared (see HostRoutes in common/src/ir/route.ts). */
export type PathForm = { readonly level: PathLevel; readonly isDecoded: boolean };

/** Compiles a path match into the form in which request paths are compared on its host. */
export function compilePath(match: PathMatch, form: PathForm): Result<PathRule> {
  switch (match.type) {
    case "exact":
      return ok({ type: "exact", text: rulePath(match.value, form) });
    case "prefix": {
      const text = rulePath(match.value, form);
      return ok({ type: "prefix", text: text.endsWith("/") ? text.slice(0, -1) : text });
    }
    case "regex":
      return compileRegexPath(form.isDecoded ? asOctets(match.value) : match.value, match.whole === true);
  }
}

/**
 * Compiles a regex with its literal beginning. If a host has many regexes, most of them begin with different texts, and
 * some consist only of text. RE2 folds the case of ASCII as `toLowerCase` does; other characters are left to RE2.
 */
function compileRegexPath(pattern: string, whole: boolean): Result<PathRule> {
  const regex = compileRegex(pattern, { whole });
  if (!regex.ok) return regex;
  const anchored = whole ? undefined : withoutAnchor(pattern);
  const literal = anchored === undefined ? undefined : literalBeginning(anchored);
  if (literal === undefined || !isAscii.test(literal.text)) {
    return ok({ type: "regex", pattern, whole, regex: regex.value, start: undefined });
  }
  const start = literal.text.toLowerCase();
  return ok({ type: "regex", pattern, whole, regex: literal.isWhole ? undefined : regex.value, start });
}

const isAscii = /^[\0-\u007f]*$/;

const SLASH = 0x2f;

/**
 * Reports whether a rule matches a path. This is the definition, to which the lookups by text must be equivalent. A
 * prefix ends at a segment boundary of the path (docs/routing.md). `literal` is the path with its escapes in upper
 * case, `folded` the path in lower case.
 */
export function pathMatches(
  rule: PathRule,
  path: string,
  literal: string = upperCaseEscapes(path),
  folded: string = path.toLowerCase(),
): boolean {
  switch (rule.type) {
    case "exact":
      return literal === rule.text;
    case "prefix":
      return (
        literal.startsWith(rule.text) &&
        (literal.length === rule.text.length || literal.charCodeAt(rule.text.length) === SLASH)
      );
    case "regex":
      if (rule.start !== undefined && !folded.startsWith(rule.start)) return false;
      return rule.regex === undefined || testWithinBudget(rule.regex, path);
  }
}

/**
 * Returns the path of a rule in the form of request paths: characters that a URL must not contain are percent-encoded
 * as UTF-8, then the path is normalised like request paths. A path that no request can have is not normalised, and
 * matches nothing.
 */
function rulePath(value: string, { level, isDecoded }: PathForm): string {
  const encoded = value.toWellFormed().replaceAll(/[^\u0021-\u007e]/gu, encodeURIComponent);
  const canonical = normalisePath(encoded, level) ?? encoded;
  return upperCaseEscapes(isDecoded ? decodedPath(canonical) : canonical);
}
