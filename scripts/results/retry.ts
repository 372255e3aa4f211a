/**
 * A second try of what failed in the first run of a part of `.ci/run` (RETRY=1): only those checks and files of tests, so that
 * a test which a busy machine disturbed costs minutes, not the whole run again.
 */
import { firstResultsFile, readResults, type Results } from "./results.ts";

/** What has to run again, and the results of the run before. */
export type Retry = {
  readonly first: Results;
  readonly files: readonly string[];
  readonly checks: readonly string[];
};

/** What a part consists of: paths of its files of tests, as failures name them, and names of its checks. */
type Parts = { readonly files: readonly string[]; readonly checks?: readonly string[] };

/** The second try that RETRY=1 asks for; undefined where everything has to run: see `retryOf`. */
export const readRetry = (part: string, parts: Parts): Retry | undefined =>
  process.env["RETRY"] === "1" ? retryOf(readResults(firstResultsFile(part)), parts) : undefined;

/**
 * Undefined, so that everything runs again, when the first run left no results, no failure or one that belongs neither to a file nor
 * to a check: a runner that crashed has not run all of its tests.
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
 * The results of both tries as those of one run: what passed in the second no longer fails. Tests that a failed hook kept from
 * running the first time are not counted.
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
