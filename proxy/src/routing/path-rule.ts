import type { PathLevel } from "@svc-gateway/common/features/path-normalize.ts";
import type { PathMatch } from "@svc-gateway/common/ir/match.ts";
import { ok, type Result } from "@svc-gateway/common/values/result.ts";
import { testWithinBudget } from "./regex-budget.ts";
import { normalisePath } from "./normalise-path.ts";
import { upperCaseEscapes } from "@svc-gateway/common/values/percent-escapes.ts";
import { compileRegex, type Regex } from "@svc-gateway/common/values/regex.ts";

/**
 * A path match made ready: `text` is canonical with its escapes in upper case, that of a prefix without its trailing slash
 * (`/` is the empty text).
 */
export type PathRule =
  | { readonly type: "exact"; readonly text: string }
  | { readonly type: "prefix"; readonly text: string }
  | { readonly type: "regex"; readonly regex: Regex };

/** Compiles a path match. `level` is that of the host: the rule is put into the form in which requests arrive there. */
export function compilePath(match: PathMatch, level: PathLevel): Result<PathRule> {
  switch (match.type) {
    case "exact":
      return ok({ type: "exact", text: canonicalRulePath(match.value, level) });
    case "prefix": {
      const text = canonicalRulePath(match.value, level);
      return ok({ type: "prefix", text: text.endsWith("/") ? text.slice(0, -1) : text });
    }
    case "regex": {
      const regex = compileRegex(match.value, { whole: match.whole === true });
      return regex.ok ? ok({ type: "regex", regex: regex.value }) : regex;
    }
  }
}

const SLASH = 0x2f;

/**
 * Whether one rule matches a canonical path: the definition, which the lookup by text in host-lookup.ts must equal. A
 * prefix ends at a segment boundary of the path (docs/routing.md). `literal` is the path with its escapes in upper case.
 */
export function pathMatches(rule: PathRule, path: string, literal: string = upperCaseEscapes(path)): boolean {
  switch (rule.type) {
    case "exact":
      return literal === rule.text;
    case "prefix":
      return (
        literal.startsWith(rule.text) &&
        (literal.length === rule.text.length || literal.charCodeAt(rule.text.length) === SLASH)
      );
    case "regex":
      return testWithinBudget(rule.regex, path);
  }
}

/**
 * The path of a rule in the form in which requests arrive: what a URL must not contain is percent-encoded as UTF-8,
 * then it is normalised as request paths are. A path that no request can have stays as it is and matches nothing.
 */
function canonicalRulePath(value: string, level: PathLevel): string {
  const encoded = value.toWellFormed().replaceAll(/[^\u0021-\u007e]/gu, encodeURIComponent);
  return upperCaseEscapes(normalisePath(encoded, level) ?? encoded);
}
