/**
 * Bounds the cost of all regular expressions in the lookup of one request. The cost of a test is the size of the regex
 * times the length of the text, which is the number of steps of the slowest engine of re2js (docs/routing.md, "Regular
 * expressions").
 */
import type { Regex, RegexSet } from "@svc-gateway/common/values/regex.ts";

/** About a quarter of a second on the slowest path; most regexes take a hundredth of that. */
const maxSteps = 10_000_000;

/** The remaining steps of the current lookup. Shared, because lookups never interleave. */
let left = maxSteps;

/** Resets the budget; called before each lookup. */
export function startLookup(): void {
  left = maxSteps;
}

/** Reports whether the lookup has exceeded the budget, in which case its result must not be used. */
export const isOverspent = (): boolean => left < 0;

/** Tests a regex; returns false without a test once the lookup has exceeded the budget. */
export function testWithinBudget(regex: Regex, text: string): boolean {
  left -= regex.steps * text.length;
  return left >= 0 && regex.test(text);
}

/** Returns the members of a set that match; none, without a test, once the lookup has exceeded the budget. */
export function matchWithinBudget(set: RegexSet, text: string): readonly number[] {
  left -= set.steps * text.length;
  return left >= 0 ? set.match(text) : none;
}

const none: readonly number[] = [];
