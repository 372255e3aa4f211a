import { compileRegex, type Regex } from "@svc-gateway/common/values/regex.ts";
import { problem, type Result } from "@svc-gateway/common/values/result.ts";

/**
 * The limit for the regular expressions of one object, in steps of compilation (docs/routing.md, "Regular
 * expressions").
 */
const maxCost = 50_000;

const overspent = problem(
  "the regular expressions of this object are too large together",
  `at most ${maxCost} steps with repetitions written out`,
);

/**
 * Compiles the regular expressions of one object up to its limit: controllers and the workers of all proxies
 * compile them sequentially, and do nothing else meanwhile.
 */
export class RegexBudget {
  private left = maxCost;

  /** Works like `compileRegex`, but returns a problem for each regular expression after the budget is spent. */
  compile(pattern: string, options: { readonly whole: boolean }): Result<Regex> {
    if (this.left < 0) return overspent;
    const compiled = compileRegex(pattern, options);
    if (!compiled.ok) return compiled;
    this.left -= compiled.value.cost;
    return this.left < 0 ? overspent : compiled;
  }
}
