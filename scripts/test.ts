/**
 * `make test`: runs every check that needs no cluster, all of them even when one fails, and then every test. As many
 * run simultaneously as the machine has processors, but at most four, unless JOBS sets another number. Prints the
 * counts of the test runner at the end, and writes them to `.cache/test-results.json` for .ci/run, with the names of
 * failures. RETRY=1 is the second try of .ci/run (results/retry.ts).
 */
import { globSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import { reporterArguments } from "./results/reporter-arguments.ts";
import {
  isFailed,
  readMochaRun,
  resultsFile,
  resultsOfMocha,
  summaryLine,
  sumOf,
  withFailures,
  writeResults,
  type Results,
} from "./results/results.ts";
import { afterRetry, readRetry } from "./results/retry.ts";
import { runCommand } from "./test-run/command.ts";
import { checkCoverage } from "./test-run/coverage.ts";
import { inLanes } from "./test-run/lanes.ts";
import { partsOf, type TestPart } from "./test-run/parts.ts";

process.chdir(resolve(import.meta.dirname, ".."));

/** More than four lanes gain nothing, because the longest part then determines the duration. */
const maxLanes = 4;
const lanes = Number(process.env["JOBS"]) || Math.min(availableParallelism(), maxLanes);

const bin = (name: string): string => join("node_modules", ".bin", name);
const script = (name: string, ...args: readonly string[]): readonly string[] => [
  process.execPath,
  join("scripts", name),
  ...args,
];

type Check = { readonly name: string; readonly command: readonly string[] };

const checks: readonly Check[] = [
  { name: "format", command: [bin("prettier"), "--check", "--log-level", "warn", "."] },
  { name: "lint", command: [bin("oxlint"), "--type-aware", "--deny-warnings"] },
  { name: "types", command: [bin("tsc"), "--project", "tsconfig.json"] },
  { name: "imports", command: script("imports/check.ts") },
  { name: "unused code", command: [bin("knip"), "--no-progress"] },
  { name: "generated API", command: script("generate-api.ts", "--check") },
  { name: "generated protocol", command: script("generate-proto.ts", "--check") },
  { name: "generated pages", command: script("generate-docs.ts", "--check") },
  { name: "generated chart", command: script("generate-chart.ts", "--check") },
  { name: "build", command: script("build.ts") },
  { name: "site", command: script("site/main.ts") },
];

const allFiles = globSync("{proto,common,operator,proxy,cli,scripts}/test/**/*.test.ts");
const retry = readRetry("test", { files: allFiles, checks: checks.map(({ name }) => name) });

// The coverage of a second try adds to that of the first.
const coverageFolder = resolve("coverage");
if (retry === undefined) rmSync(coverageFolder, { recursive: true, force: true });

/**
 * Makes glibc return large buffers to the system when they are freed. By default it stops this once one was freed, and
 * each of the thousand gateways that tests start then leaves some megabytes: their process grew to more than 6 GB.
 */
const allocation = { MALLOC_MMAP_THRESHOLD_: "131072" };

/**
 * The maximum time of a check or part. Without it, a test that blocks its process, or a program that never ends, would
 * hold up the run for ever, because the limits of mocha are timers of that process.
 */
const limitMs = 25 * 60_000;

const failures: string[] = [];
/** The duration of each test file. */
const timesMs: Record<string, number> = {};
await inLanes(
  checks.filter(({ name }) => retry?.checks.includes(name) ?? true),
  lanes,
  check,
);
const tests = sumOf(await inLanes(partsOf(retry?.files ?? allFiles), lanes, test));
await reportCoverage();
reportSlowest();

const outcome = withFailures(tests, failures);
const results = retry === undefined ? outcome : afterRetry(retry, outcome);
if (results.failures.length > 0) console.log(["failed:", ...results.failures].join("\n  "));
writeResults(resultsFile("test"), results);
console.log(`make test: ${summaryLine(results)}`);
process.exitCode = isFailed(results) ? 1 : 0;

async function check({ name, command }: Check): Promise<void> {
  const startedMs = performance.now();
  const { status, output } = await runCommand(command, { limitMs });
  if (status !== 0) failures.push(name);
  report(status === 0, `${name} (${seconds(startedMs)})`, output);
}

/** Runs the tests of a part. Their coverage is written to the folder from which c8 creates its report. */
async function test({ name, files: own }: TestPart): Promise<Results> {
  const startedMs = performance.now();
  const runFile = join(".cache", "test-runs", `${name.replaceAll("/", "-")}.json`);
  rmSync(runFile, { force: true });
  const mocha = [
    process.execPath,
    join("node_modules", "mocha", "bin", "mocha.js"),
    ...reporterArguments({ shown: "dot", output: runFile }),
    // A handle that outlives its test is a defect, but must not prevent a finished run from ending.
    "--exit",
    ...own,
  ];
  const { status, output } = await runCommand(mocha, {
    env: { ...process.env, ...allocation, NODE_V8_COVERAGE: join(coverageFolder, "tmp") },
    limitMs,
    hasResult: () => readMochaRun(runFile)?.hasEnded === true,
  });
  const run = readMochaRun(runFile);
  Object.assign(timesMs, run?.timesMs);
  const part = resultsOfMocha(`tests of ${name}`, run, status);
  report(!isFailed(part), `tests of ${name}: ${summaryLine(part)} (${seconds(startedMs)})`, output);
  return part;
}

async function reportCoverage(): Promise<void> {
  await check({ name: "report of coverage", command: [bin("c8"), "report"] });
  for (const { name, isMet, text } of checkCoverage(coverageFolder)) {
    if (!isMet) failures.push(name);
    report(isMet, text, "");
  }
}

function reportSlowest(): void {
  const slowest = Object.entries(timesMs)
    .toSorted(([, left], [, right]) => right - left)
    .slice(0, 10)
    .map(([file, ms]) => `${(ms / 1000).toFixed(1)} s  ${file}`);
  console.log(["files whose tests took longest:", ...slowest].join("\n  "));
}

/** Prints one line for an ended command, preceded by its output if it failed. */
function report(isOk: boolean, line: string, output: string): void {
  console.log(isOk ? `ok   ${line}` : `${output}\nFAIL ${line}`);
}

function seconds(sinceMs: number): string {
  return `${((performance.now() - sinceMs) / 1000).toFixed(1)} s`;
}
