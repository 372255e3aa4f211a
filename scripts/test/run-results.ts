import type { Results } from "../results/results.ts";

/** Results of a run in which these tests and checks failed. */
export const results = (passed: number, failures: readonly string[] = [], skipped = 0): Results => ({
  passed,
  failed: failures.length,
  skipped,
  failures,
});
