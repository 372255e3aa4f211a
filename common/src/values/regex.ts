import { RE2JS, RE2Set } from "re2js";
import { textOf } from "./errors.ts";
import { estimateSteps, estimateTables } from "./regex-size.ts";
import { withoutAnchor } from "./regex-literal.ts";
import { ok, problem, type Result } from "./result.ts";

/**
 * A compiled regular expression that matches in time linear in the input
 * (docs/adr/0007-linear-time-regular-expressions.md).
 */
export type Regex = {
  test(input: string): boolean;
  /**
   * Returns the leftmost match, or undefined. Costs several times the processor time of `test`: in proportion to
   * `steps` per character.
   */
  find(input: string): Match | undefined;
  /** The number of groups, for `$1` to `$n`. */
  readonly groupCount: number;
  /** Steps of the compiled pattern, the maximum that a match visits for each character of its input. */
  readonly steps: number;
  /** The cost of compiling the pattern, in steps: a step takes some microseconds, and about a hundred bytes. */
  readonly cost: number;
};

/**
 * A match from index `start` (inclusive) to `end` (exclusive), with the texts of its groups 1 to n; the text is empty
 * for a group that did not participate.
 */
export type Match = { readonly start: number; readonly end: number; readonly groups: readonly string[] };

/**
 * Longest accepted pattern in characters, not counting the anchor that a controller adds (docs/routing.md, "Regular
 * expressions").
 */
const maxRegexLength = 1024;
/** Largest accepted compiled pattern, with repetitions such as `a{1000}` expanded. */
const maxRegexSteps = 10_000;

/** Compiled patterns; the least recently used one is evicted first. */
const compiled = new Map<string, RE2JS>();
const maxCompiled = 4096;

const syntax = `RE2 syntax, at most ${maxRegexLength} characters`;

/**
 * Compiles RE2 syntax. With `whole`, the pattern must match the whole input instead of any part of it. Equal patterns
 * are compiled once, also across snapshots. Controller and proxy compile with this same code, so that they cannot
 * disagree on the validity of a pattern.
 */
export function compileRegex(pattern: string, { whole }: { readonly whole: boolean }): Result<Regex> {
  const written = withoutAnchor(pattern) ?? pattern;
  if (written.length > maxRegexLength) return problem("the regular expression is too long", syntax);
  const expression = lookUp(pattern);
  if (!expression.ok) return expression;
  const { value } = expression;
  return ok({
    test: whole ? (input) => value.testExact(input) : (input) => value.test(input),
    find(input) {
      const matcher = value.matcher(input);
      if (!(whole ? matcher.matches() : matcher.find())) return undefined;
      const groups = Array.from(
        { length: matcher.groupCount() },
        (_, index) => matcher.group(index + 1) ?? "",
      );
      return { start: matcher.start(), end: matcher.end(), groups };
    },
    groupCount: value.groupCount(),
    steps: value.programSize(),
    cost: value.programSize() + estimateTables(pattern),
  });
}

const tooLarge = problem(
  "the regular expression repeats too much",
  `at most ${maxRegexSteps} steps with repetitions written out`,
);

const tooManyCharacters = problem(
  "the regular expression has too many Unicode classes, or too many characters whose case does not matter",
  `what takes as long to compile as ${maxRegexSteps} steps, at most`,
);

function lookUp(pattern: string): Result<RE2JS> {
  const known = compiled.get(pattern);
  if (known !== undefined) {
    compiled.delete(pattern);
    compiled.set(pattern, known);
    return ok(known);
  }
  if (estimateSteps(pattern) > maxRegexSteps) return tooLarge;
  if (estimateTables(pattern) > maxRegexSteps) return tooManyCharacters;
  let fresh: RE2JS;
  try {
    fresh = RE2JS.compile(pattern);
  } catch (error) {
    return problem(textOf(error), syntax);
  }
  if (fresh.programSize() > maxRegexSteps) return tooLarge;
  if (compiled.size >= maxCompiled) {
    const [oldest] = compiled.keys();
    if (oldest !== undefined) compiled.delete(oldest);
  }
  compiled.set(pattern, fresh);
  return ok(fresh);
}

/** Several regular expressions that are matched in one pass over the input. */
export type RegexSet = {
  /** Returns the indexes of the patterns that match any part of the input, in order. */
  match(input: string): readonly number[];
  /** The maximum number of steps that a match visits for each character of its input. */
  readonly steps: number;
};

/**
 * The maximum size of the tables of a set in bytes. Larger sets are matched step by step, which also takes linear time.
 */
const maxSetBytes = 1024 * 1024;

/** Compiles patterns that `compileRegex` has accepted; returns undefined if they are too large together. */
export function compileRegexSet(patterns: readonly string[]): RegexSet | undefined {
  const set = new RE2Set(RE2Set.UNANCHORED, 0, maxSetBytes);
  try {
    for (const pattern of patterns) set.add(pattern);
    set.compile();
  } catch {
    return undefined;
  }
  return { match: (input) => set.match(input), steps: set.prog.numInst() };
}
