import { RE2JS } from "re2js";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";

/** A compiled regular expression whose matching time is linear in the input (docs/adr/0007-linear-time-regular-expressions.md). */
export type Regex = { test(input: string): boolean };

/** Longest accepted expression in characters (docs/routing.md, "Regular expressions"). */
const maxRegexLength = 1024;

/** Expressions compiled so far; the least recently asked for leaves first. */
const compiled = new Map<string, RE2JS>();
const maxCompiled = 4096;

/**
 * Compiles RE2 syntax. `whole` makes the expression match the whole input instead of any part of it. Equal
 * expressions are compiled once, also across snapshots.
 */
export function compileRegex(pattern: string, options: { readonly whole: boolean }): Result<Regex> {
  if (pattern.length > maxRegexLength) {
    return problem(`regular expression is longer than ${maxRegexLength} characters`);
  }
  const expression = lookUp(pattern);
  if (!expression.ok) return expression;
  const { value } = expression;
  return ok(
    options.whole ? { test: (input) => value.testExact(input) } : { test: (input) => value.test(input) },
  );
}

function lookUp(pattern: string): Result<RE2JS> {
  const known = compiled.get(pattern);
  if (known !== undefined) {
    compiled.delete(pattern);
    compiled.set(pattern, known);
    return ok(known);
  }
  let fresh: RE2JS;
  try {
    fresh = RE2JS.compile(pattern);
  } catch (error) {
    return problem(error instanceof Error ? error.message : "invalid regular expression", "RE2 syntax");
  }
  if (compiled.size >= maxCompiled) {
    const [oldest] = compiled.keys();
    if (oldest !== undefined) compiled.delete(oldest);
  }
  compiled.set(pattern, fresh);
  return ok(fresh);
}
