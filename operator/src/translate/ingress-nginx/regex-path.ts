/** What a path is on a host whose paths are regular expressions. See docs/ingress-nginx.md, "Regular expressions". */
import {
  anchoredPattern,
  literalBeginning,
  literalPattern,
} from "@svc-gateway/common/values/regex-literal.ts";
import { describeProblem } from "../diagnostics/define-finding.ts";
import type { RegexBudget } from "../regex-budget.ts";

/** One regular expression of a path. */
export type RegexText = {
  /** As it is written, which is what the order depends on. */
  readonly text: string;
  /** What a request must begin with to match, in any case. */
  readonly literal: string;
  /** RE2 syntax. Of a text that RE2 cannot match, the pattern of its literal beginning. */
  readonly pattern: string;
  /** Why it cannot be matched: requests that begin with `literal` are answered 503. */
  readonly problem?: string;
};

/** A path as regular expressions, which apply where the host has some. */
export type RegexPath = {
  /** The path, or for a prefix of an Ingress without regular expressions the path with and without a slash at its end. */
  readonly texts: readonly RegexText[];
  /** Whether it makes all paths of the host regular expressions. */
  readonly turnsHost: boolean;
  /** Whether the type is `Exact` or `Prefix`, and the path has characters that ingress-nginx accepts in neither. */
  readonly isUnusual: boolean;
};

type Path = { readonly written: string; readonly pathType: string | undefined };

const usualPath = /^[A-Za-z0-9._\-/]*$/;

/** `turnsHost`: the Ingress uses regular expressions, or rewrites this path. */
export function readRegexPath(
  { written, pathType }: Path,
  turnsHost: boolean,
  budget: RegexBudget,
): RegexPath {
  const isTyped = pathType === "Exact" || pathType === "Prefix";
  return {
    texts: textsOf(written, pathType, turnsHost).map((text) => readText(text, budget)),
    turnsHost,
    isUnusual: isTyped && !usualPath.test(written),
  };
}

function textsOf(written: string, pathType: string | undefined, turnsHost: boolean): readonly string[] {
  if (turnsHost || pathType === "Exact" || written.endsWith("/")) return [written];
  return [`${written}/`, written];
}

function readText(text: string, budget: RegexBudget): RegexText {
  const { text: literal, isWhole } = literalBeginning(text);
  const pattern = anchoredPattern(text);
  const compiled = isWhole ? undefined : budget.compile(pattern, { whole: false });
  if (compiled === undefined || compiled.ok) return { text, literal, pattern };
  const problem = describeProblem(compiled.error);
  return { text, literal, pattern: anchoredPattern(literalPattern(literal)), problem };
}

/** Longest text first, ties in reverse alphabetical order, as ingress-nginx sorts its locations. */
export const compareTexts = (a: string, b: string): number =>
  b.length - a.length || (a < b ? 1 : a > b ? -1 : 0);
