/**
 * `make e2e`: brings the cluster up if it is not, installs the gateway, runs the tests and says how they went, which
 * also goes to `.cache/e2e-summary` for .ci/run. KEEP=1 leaves a cluster that this run has started as it is; one that
 * was up before stays up, unless FRESH=1 asks for a new one. TESTS names files.
 */
import { globSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { exclusively } from "./support/exclusive.ts";
import { clearFigures, figureTable, readFigures } from "./support/figures.ts";
import { rememberObjects } from "./support/objects.ts";
import { isDeployed } from "./deploy/release.ts";
import { isClusterUp, providerName, root, showProvider } from "./support/provider.ts";
import { run, signalPrograms } from "./support/run.ts";

const tell = (line: string): void => void process.stdout.write(`${line}\n`);
const hourMs = 3_600_000;

process.chdir(root);
// Whoever ends this run ends the tests, and the cluster is still taken away.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, signalPrograms);
process.exitCode = await exclusively(main).catch((error: unknown) => {
  tell(error instanceof Error ? error.message : String(error));
  return conclude({ passed: 0, failed: 1, skipped: 0 });
});

async function main(): Promise<number> {
  tell(`cluster: ${await providerName()}`);
  // A run that was killed leaves a cluster that nobody can tell from one that somebody uses.
  const isFresh = process.env["FRESH"] === "1";
  if (isFresh) await showProvider("down");
  const wasUp = !isFresh && (await isClusterUp());
  const counts = { passed: 0, failed: 0, skipped: 0 };
  try {
    // Whatever ends badly from here on must not read like a clean run.
    if (!wasUp) await showProvider("up");
    Object.assign(counts, await deployAndTest());
  } catch (error) {
    counts.failed += 1;
    tell(error instanceof Error ? error.message : String(error));
  }
  if (process.env["KEEP"] === "1" || wasUp) {
    tell("the cluster stays up; end it with make cluster-down");
  } else {
    await showProvider("down").catch((error: unknown) => {
      counts.failed += 1;
      tell(String(error));
    });
  }
  return conclude(counts);
}

/** Says the counts where people and .ci/run look for them; gives the exit code. */
function conclude({ passed, failed, skipped }: Counts): number {
  const summary = `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
  mkdirSync(".cache", { recursive: true });
  writeFileSync(join(".cache", "e2e-summary"), `${summary}\n`);
  tell(`make e2e: ${summary}`);
  return failed > 0 || passed === 0 ? 1 : 0;
}

type Counts = { readonly passed: number; readonly failed: number; readonly skipped: number };

async function deployAndTest(): Promise<Counts> {
  if (!(await isDeployed())) await rememberObjects();
  const deployed = await run(process.execPath, ["e2e/deploy/main.ts", "deploy"], {
    isShown: true,
    timeoutMs: hourMs,
  });
  if (deployed.status !== 0) return { passed: 0, failed: 1, skipped: 0 };
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
  if (figures.length > 0) tell(`\n${figureTable(figures)}\n`);
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
  return ["features", "faults", "installation"].flatMap((folder) =>
    globSync(`e2e/${folder}/*.test.ts`).sort(),
  );
}
