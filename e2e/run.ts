/**
 * `make e2e`: starts the cluster if it does not run, installs the gateway, runs the tests and prints the results
 * (support/campaign.ts). TESTS names files; RETRY=1 is the second try of .ci/run (scripts/results/retry.ts).
 */
import { globSync, rmSync } from "node:fs";
import { reporterArguments } from "../scripts/results/reporter-arguments.ts";
import { readMochaRun, resultsOfMocha, type Results } from "../scripts/results/results.ts";
import { afterRetry, readRetry } from "../scripts/results/retry.ts";
import { isDeployed } from "./deploy/release.ts";
import { deployRelease, testOnCluster } from "./support/campaign.ts";
import { clearFigures, figureTable, readFigures } from "./support/figures.ts";
import { rememberObjects } from "./support/objects.ts";
import { run } from "./support/run-program.ts";

const hourMs = 3_600_000;
const runFile = ".cache/e2e-run.json";

process.exitCode = await testOnCluster("e2e", deployAndTest);

async function deployAndTest(): Promise<Results> {
  if (!(await isDeployed())) await rememberObjects();
  await deployRelease();
  clearFigures();
  rmSync(runFile, { force: true });
  const allFiles = testFiles();
  const retry = readRetry("e2e", { files: allFiles });
  const mocha = ["node_modules/mocha/bin/mocha.js", "--no-config", "--extension", "ts"];
  const options = [
    "--require",
    "./e2e/support/hooks.ts",
    "--timeout",
    "300000",
    "--slow",
    "60000",
    ...reporterArguments({ shown: "spec", output: runFile }),
  ];
  const tests = await run(process.execPath, [...mocha, ...options, ...(retry?.files ?? allFiles)], {
    isShown: true,
    timeoutMs: hourMs,
  });
  const figures = readFigures();
  if (figures.length > 0) process.stdout.write(`\n${figureTable(figures)}\n\n`);
  const results = resultsOfMocha("e2e", readMochaRun(runFile), tests.status);
  return retry === undefined ? results : afterRetry(retry, results);
}

/**
 * The test files in order. Features come first, because tests of faults and releases prove nothing when features
 * fail. Tests that remove the installation come last.
 */
function testFiles(): readonly string[] {
  const wanted = process.env["TESTS"];
  if (wanted !== undefined && wanted !== "")
    return wanted.split(/\s+/).flatMap((name) => globSync(name).sort());
  return ["features", "tenants", "faults", "skew", "installation"].flatMap((folder) =>
    globSync(`e2e/${folder}/*.test.ts`).sort(),
  );
}
