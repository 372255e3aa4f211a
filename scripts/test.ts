/**
 * `make test`: every check that needs no cluster, one after the other, all of them even when one fails. Ends with the
 * counts of the test runner, which also go to `.cache/test-results.json` for .ci/run, with the names of what failed.
 */
import { spawn } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { reporterArguments } from "./results/reporter-arguments.ts";
import {
  isFailed,
  readMochaRun,
  resultsFile,
  resultsOfMocha,
  summaryLine,
  withFailures,
  writeResults,
} from "./results/results.ts";

const root = resolve(import.meta.dirname, "..");
process.chdir(root);

const bin = (name: string): string => join("node_modules", ".bin", name);
const script = (name: string, ...args: readonly string[]): readonly string[] => [
  process.execPath,
  join("scripts", name),
  ...args,
];

type Step = { readonly name: string; readonly command: readonly string[] };

const steps: readonly Step[] = [
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

/** Least share of statements, in percent, that the tests run; the whole is everything under src/. */
const coverageFloors: Readonly<Record<string, number>> = {
  "operator/src/translate": 90,
  "proxy/src/filters": 90,
  "proxy/src/routing": 90,
  "": 80,
};

/**
 * A runner that has written its result and does not end has leaked a socket, a timer or a process. The report of
 * coverage is written after the result, which takes its time on a machine with other work.
 */
const lingerMs = 300_000;

const failures: string[] = [];

for (const { name, command } of steps) {
  const startedMs = performance.now();
  const status = await run(command);
  printLine(`${status === 0 ? "ok  " : "FAIL"} ${name} (${seconds(startedMs)})`);
  if (status !== 0) failures.push(name);
}

const startedMs = performance.now();
rmSync("coverage", { recursive: true, force: true });
const specs = ["proto", "common", "operator", "proxy", "cli", "scripts"].map(
  (name) => `${name}/test/**/*.test.ts`,
);
const runFile = join(".cache", "test-run.json");
rmSync(runFile, { force: true });
const mocha = [
  process.execPath,
  join("node_modules", "mocha", "bin", "mocha.js"),
  ...reporterArguments({ shown: "dot", output: runFile }),
  // A handle that outlives its test is a defect, but must not turn a finished run into one that never ends.
  "--exit",
  ...specs,
];
const testsStatus = await run([bin("c8"), ...mocha], {
  hasResult: () => readMochaRun(runFile)?.hasEnded === true,
});
const tests = resultsOfMocha("tests", readMochaRun(runFile), testsStatus);
printLine(`${isFailed(tests) ? "FAIL" : "ok  "} tests (${seconds(startedMs)})`);
failures.push(...checkCoverage());

const results = withFailures(tests, failures);
if (results.failures.length > 0) printLine(["failed:", ...results.failures].join("\n  "));
writeResults(resultsFile("test"), results);
printLine(`make test: ${summaryLine(results)}`);
process.exitCode = isFailed(results) ? 1 : 0;

type Statements = { readonly total: number; readonly covered: number };

function checkCoverage(): readonly string[] {
  const files = readCoverage();
  return Object.entries(coverageFloors).flatMap(([folder, floor]) => {
    const sum = { total: 0, covered: 0 };
    for (const [file, { total, covered }] of files) {
      if (folder !== "" && !file.startsWith(`${folder}/`)) continue;
      sum.total += total;
      sum.covered += covered;
    }
    const percent = sum.total === 0 ? 0 : (100 * sum.covered) / sum.total;
    const isMet = percent >= floor;
    const name = folder === "" ? "everything" : folder;
    printLine(
      `${isMet ? "ok  " : "FAIL"} coverage of ${name}: ${percent.toFixed(1)} % of statements (at least ${floor} %)`,
    );
    return isMet ? [] : [`coverage of ${name}`];
  });
}

/** Statements by file, relative to the root; empty when the tests wrote no report. */
function readCoverage(): ReadonlyMap<string, Statements> {
  try {
    const report = JSON.parse(readFileSync(join("coverage", "coverage-summary.json"), "utf8")) as Readonly<
      Record<string, { readonly statements: Statements }>
    >;
    const files = Object.entries(report).filter(([file]) => file !== "total");
    return new Map(files.map(([file, { statements }]) => [relative(root, file), statements]));
  } catch {
    return new Map();
  }
}

function printLine(line: string): void {
  process.stdout.write(`${line}\n`);
}

function seconds(sinceMs: number): string {
  return `${((performance.now() - sinceMs) / 1000).toFixed(1)} s`;
}

/** Runs a command and returns its status. It is killed when it does not end although it has written its result. */
function run(
  [command = "", ...args]: readonly string[],
  { hasResult }: { readonly hasResult?: () => boolean } = {},
): Promise<number> {
  return new Promise((settle) => {
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"], detached: true });
    // Through a pipe, so that "close" also waits for programs that the command has left running.
    child.stdout.pipe(process.stdout, { end: false });
    const forward = (signal: NodeJS.Signals): void => endGroup(child.pid, signal);
    process.once("SIGINT", forward).once("SIGTERM", forward);
    let linger: NodeJS.Timeout | undefined;
    const look = setInterval(() => {
      if (hasResult?.() !== true) return;
      clearInterval(look);
      linger = setTimeout(() => {
        printLine("the tests have ended, but a socket, timer or process that they started is still open");
        endGroup(child.pid, "SIGKILL");
      }, lingerMs);
    }, 1000);
    const end = (result: number): void => {
      clearInterval(look);
      clearTimeout(linger);
      process.off("SIGINT", forward).off("SIGTERM", forward);
      settle(result);
    };
    child.once("error", (error) => {
      printLine(`${command} cannot be started: ${error.message}`);
      end(1);
    });
    child.once("close", (code) => end(code ?? 1));
  });
}

function endGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // The whole group has ended in the meantime.
  }
}
