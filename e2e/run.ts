/**
 * `make e2e`: brings the cluster up if it is not, installs the gateway, runs the tests and says how they went
 * (support/campaign.ts). TESTS names files.
 */
import { globSync } from "node:fs";
import { isDeployed } from "./deploy/release.ts";
import { deployRelease, testOnCluster, type Counts } from "./support/campaign.ts";
import { clearFigures, figureTable, readFigures } from "./support/figures.ts";
import { rememberObjects } from "./support/objects.ts";
import { run } from "./support/run.ts";

const hourMs = 3_600_000;

process.exitCode = await testOnCluster("e2e", deployAndTest);

async function deployAndTest(): Promise<Counts> {
  if (!(await isDeployed())) await rememberObjects();
  await deployRelease();
  clearFigures();
  const files = testFiles();
  const mocha = ["node_modules/mocha/bin/mocha.js", "--no-config", "--extension", "ts"];
  const options = [
    "--require",
    "./e2e/support/hooks.ts",
    "--timeout",
    "300000",
    "--slow",
    "60000",
    "--reporter",
    "spec",
  ];
  const tests = await run(process.execPath, [...mocha, ...options, ...files], {
    isShown: true,
    timeoutMs: hourMs,
  });
  const figures = readFigures();
  if (figures.length > 0) process.stdout.write(`\n${figureTable(figures)}\n\n`);
  const count = (word: string): number =>
    Number(new RegExp(`^\\s+(\\d+) ${word}`, "m").exec(tests.stdout)?.[1] ?? 0);
  const failed = count("failing");
  return {
    passed: count("passing"),
    // A runner that crashes names no failed test.
    failed: failed === 0 && tests.status !== 0 ? 1 : failed,
    skipped: count("pending"),
  };
}

/** Features first: when they fail, faults tell nothing. What takes the installation away comes last. */
function testFiles(): readonly string[] {
  const wanted = process.env["TESTS"];
  if (wanted !== undefined && wanted !== "")
    return wanted.split(/\s+/).flatMap((name) => globSync(name).sort());
  return ["features", "tenants", "faults", "installation"].flatMap((folder) =>
    globSync(`e2e/${folder}/*.test.ts`).sort(),
  );
}
