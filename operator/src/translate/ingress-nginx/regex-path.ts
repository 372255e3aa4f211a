/** Paths on a host whose paths are regular expressions. See docs/ingress-nginx.md, "Regular expressions". */
import {
  anchoredPattern,
  literalBeginning,
  literalPattern,
} from "@svc-gateway/common/values/regex-literal.ts";
import { describeProblem } from "../diagnostics/define-finding.ts";
import type { RegexBudget } from "../regex-budget.ts";

/** One regular expression of a path. */
export type RegexText = {
  /** The text as written, which determines the order. */
  readonly text: string;
  /** The text, in any case, with which every matching request begins. */
  readonly literal: string;
  /** The pattern in RE2 syntax. For a text that RE2 cannot match, it is the pattern of the literal beginning. */
  readonly pattern: string;
  /** The reason why the text cannot be matched. Requests that begin with `literal` are then answered 503. */
  readonly problem?: string;
};

/** A path as regular expressions, which apply on hosts that have regular expressions. */
export type RegexPath = {
  /**
   * The path as written. For a prefix of an Ingress without regular expressions, the path with and without a
   * trailing slash.
   */
  readonly texts: readonly RegexText[];
  /** Whether it makes all paths of the host regular expressions. */
  readonly turnsHost: boolean;
  /**
   * Whether the type is `Exact` or `Prefix`, and the path contains characters that ingress-nginx accepts in neither.
   */
  readonly isUnusual: boolean;
};

type Path = { readonly written: string; readonly pathType: string | undefined };

const usualPath = /^[A-Za-z0-9._\-/]*$/;

/** Reads a path. With `turnsHost`, the Ingress uses regular expressions, or rewrites this path. */
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

/**
 * Compares texts in the order of ingress-nginx's locations: the longest first, ties in reverse alphabetical order.
 */
export const compareTexts = (a: string, b: string): number =>
  b.length - a.length || (a < b ? 1 : a > b ? -1 : 0);
