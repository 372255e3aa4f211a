/** The results of a test run, the sum of several, and the tests that needed a second try. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

export type Results = {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** The names of failures: tests as `file: full title`, else a check or a part. Their number is `failed`. */
  readonly failures: readonly string[];
};

/** The results that scripts/results/reporter.ts has written for a run of mocha so far. */
export type MochaRun = {
  readonly passed: number;
  readonly skipped: number;
  readonly failures: readonly string[];
  /** The time of the tests and hooks of each file, by its path from the root. */
  readonly timesMs: Readonly<Record<string, number>>;
  /** The path of the file whose tests began last. */
  readonly runningFile?: string | undefined;
  /** False until the last test has ended. */
  readonly hasEnded: boolean;
};

/** A part of `.ci/run` with its runs: one, or two when the first failed; undefined for a run without results. */
export type Part = { readonly name: string; readonly runs: readonly (Results | undefined)[] };

/** The summary in one line: `N passed, M failed[, K skipped]`. */
export const summaryLine = ({ passed, failed, skipped }: Omit<Results, "failures">): string =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;

/** Whether a run failed; a run without a single passed test did. */
export const isFailed = ({ passed, failed }: Results): boolean => failed > 0 || passed === 0;

/**
 * The results of a mocha run that exited with `status`. A runner that crashes, or ends before its tests, adds a
 * failure with the name of the run to those of the tests.
 */
export function resultsOfMocha(name: string, run: MochaRun | undefined, status: number): Results {
  const { passed = 0, skipped = 0, failures = [], runningFile, hasEnded = false } = run ?? {};
  const mishap = (): string | undefined => {
    if (!hasEnded) {
      const where = runningFile === undefined ? "" : `, in ${runningFile}`;
      return `the runner ended before its tests${where}`;
    }
    if (failures.length > 0) return undefined;
    if (status !== 0) return `the runner ended with ${status}, although no test failed`;
    return passed === 0 ? "no test ran" : undefined;
  };
  const said = mishap();
  const all = said === undefined ? failures : [...failures, `${name}: ${said}`];
  return { passed, failed: all.length, skipped, failures: all };
}

/** Adds failures that do not belong to a test. */
export const withFailures = (results: Results, names: readonly string[]): Results => ({
  ...results,
  failed: results.failed + names.length,
  failures: [...results.failures, ...names],
});

/** Several results as one. */
export const sumOf = (all: readonly Results[]): Results => ({
  passed: all.reduce((sum, { passed }) => sum + passed, 0),
  failed: all.reduce((sum, { failed }) => sum + failed, 0),
  skipped: all.reduce((sum, { skipped }) => sum + skipped, 0),
  failures: all.flatMap(({ failures }) => failures),
});

/** The last lines of `.ci/run`: flaky tests, failed ones, and the sum of the last run of each part. */
export function closingLines(parts: readonly Part[]): {
  readonly lines: readonly string[];
  readonly isFailed: boolean;
} {
  const last = parts.map(lastResults);
  const flaky = parts.flatMap(flakyOf);
  const failed = parts.flatMap(({ name }, index) => labelled(name, last[index]?.failures ?? []));
  const sum = sumOf(last);
  return {
    lines: [
      `flaky: ${flaky.length}`,
      ...flaky.map(indented),
      ...(failed.length > 0 ? [`failed: ${failed.length}`, ...failed.map(indented)] : []),
      summaryLine(sum),
    ],
    isFailed: isFailed(sum),
  };
}

const crashed: Results = { passed: 0, failed: 1, skipped: 0, failures: ["ended without results"] };

const lastResults = ({ runs }: Part): Results => runs.at(-1) ?? crashed;

/**
 * The failures of the first run that the second did not repeat; empty when the second left no results, or when there
 * was none.
 */
function flakyOf({ name, runs }: Part): readonly string[] {
  const [first = crashed, second] = runs;
  if (second === undefined) return [];
  const stillFailed = new Set(second.failures);
  return labelled(
    name,
    first.failures.filter((failure) => !stillFailed.has(failure)),
  );
}

const labelled = (part: string, names: readonly string[]): readonly string[] =>
  names.map((name) => `${part}: ${name}`);

const indented = (line: string): string => `  ${line}`;

/** The file under .cache for the results of a part. */
export const resultsFile = (part: string): string => `.cache/${part}-results.json`;

/** The file in which `.ci/run` keeps the results of a first run that failed. */
export const firstResultsFile = (part: string): string => `.cache/${part}-first-results.json`;

export function writeResults(file: string, results: Results | MochaRun): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(results)}\n`);
}

/** Reads results; undefined if there are none, or if the program was killed while it wrote them. */
export const readResults = (file: string): Results | undefined => read(file) as Results | undefined;

/** Like `readResults`, for a run of mocha. */
export const readMochaRun = (file: string): MochaRun | undefined => read(file) as MochaRun | undefined;

function read(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}
