/**
 * Bounds what expressions may cost while the route of one request is looked for, however many of them there are and
 * whoever wrote them. The cost of a test is the size of the expression times the length of the text, which is what the
 * slowest engine of re2js looks at (docs/routing.md, "Regular expressions").
 */
import type { Regex } from "@svc-gateway/common/values/regex.ts";

/** About a quarter of a second on the slowest path; most expressions take a hundredth of that. */
const maxSteps = 10_000_000;

/** What is left of the lookup under way. Shared because lookups never interleave. */
let left = maxSteps;

/** Call it before each lookup. */
export function startLookup(): void {
  left = maxSteps;
}

/** Whether the lookup has cost too much: then its result means nothing. */
export const isOverspent = (): boolean => left < 0;

/** Tests an expression; without a match once the lookup costs too much. */
export function testWithin(regex: Regex, text: string): boolean {
  left -= regex.steps * text.length;
  return left >= 0 && regex.test(text);
}
