/**
 * A second try of the failures in the first run of a part of `.ci/run` (RETRY=1). It repeats only those checks and
 * test files, so that a test that a busy machine disturbed costs minutes instead of the whole run.
 */
import { firstResultsFile, readResults, type Results } from "./results.ts";

/** The files and checks to run again, and the results of the first run. */
export type Retry = {
  readonly first: Results;
  readonly files: readonly string[];
  readonly checks: readonly string[];
};

/** The content of a part: the paths of its test files, as in the names of failures, and the names of its checks. */
type Parts = { readonly files: readonly string[]; readonly checks?: readonly string[] };

/** The second try that RETRY=1 requests; undefined if everything has to run, see `retryOf`. */
export const readRetry = (part: string, parts: Parts): Retry | undefined =>
  process.env["RETRY"] === "1" ? retryOf(readResults(firstResultsFile(part)), parts) : undefined;

/**
 * The second try after a first run. Undefined, so that everything runs again, when the first run left no results, no
 * failure, or one that belongs neither to a file nor to a check: a runner that crashed has not run all of its tests.
 */
export function retryOf(first: Results | undefined, { files, checks = [] }: Parts): Retry | undefined {
  const failures = first?.failures ?? [];
  const failedFiles = files.filter((file) => failures.some(isOf(file)));
  const isKnown = (failure: string): boolean =>
    checks.includes(failure) || failedFiles.some((file) => isOf(file)(failure));
  if (first === undefined || failures.length === 0 || !failures.every(isKnown)) return undefined;
  return { first, files: failedFiles, checks: checks.filter((check) => failures.includes(check)) };
}

/**
 * Combines the results of both tries into those of one run, in which failures that the second did not repeat count as
 * passed. Tests that a failed hook prevented from running the first time are not counted.
 */
export function afterRetry({ first, files }: Retry, second: Results): Results {
  const tests = ({ failures }: Results): readonly string[] =>
    failures.filter((failure) => files.some((file) => isOf(file)(failure)));
  const [before, after] = [tests(first), tests(second)];
  const recovered = before.filter((failure) => !after.includes(failure)).length;
  const lost = after.filter((failure) => !before.includes(failure)).length;
  return {
    passed: first.passed + recovered - lost,
    failed: second.failed,
    skipped: first.skipped,
    failures: second.failures,
  };
}

const isOf =
  (file: string) =>
  (failure: string): boolean =>
    failure.startsWith(`${file}: `);
