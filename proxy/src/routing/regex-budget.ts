/**
 * Bounds what regular expressions may cost while the route of one request is looked up, however many routes have one. The
 * cost of a test is the size of the regex times the length of the text, which is what the slowest engine of re2js looks at
 * (docs/routing.md, "Regular expressions").
 */
import type { Regex, RegexSet } from "@svc-gateway/common/values/regex.ts";

/** About a quarter of a second on the slowest path; most regexes take a hundredth of that. */
const maxSteps = 10_000_000;

/** The steps left of the lookup under way. Shared because lookups never interleave. */
let left = maxSteps;

/** Resets the budget; called before each lookup. */
export function startLookup(): void {
  left = maxSteps;
}

/** True when the lookup has cost too much: its result must not be used then. */
export const isOverspent = (): boolean => left < 0;

/** Tests a regex; answers false without a test once the lookup has cost too much. */
export function testWithinBudget(regex: Regex, text: string): boolean {
  left -= regex.steps * text.length;
  return left >= 0 && regex.test(text);
}

/** The members of a set that match; none without a test once the lookup has cost too much. */
export function matchWithinBudget(set: RegexSet, text: string): readonly number[] {
  left -= set.steps * text.length;
  return left >= 0 ? set.match(text) : none;
}

const none: readonly number[] = [];
