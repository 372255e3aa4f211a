/**
 * `make e2e`: brings the cluster up if it is not, installs the gateway, runs the tests and says how they went. KEEP=1
 * leaves a cluster that this run has started as it is; one that was up before stays up in any case. TESTS names files.
 */
import { globSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { exclusively } from "./support/exclusive.ts";
import { clearFigures, figureTable, readFigures } from "./support/figures.ts";
import { isClusterUp, providerName, root, showProvider } from "./support/provider.ts";
import { run } from "./support/run.ts";

const tell = (line: string): void => void process.stdout.write(`${line}\n`);
const hourMs = 3_600_000;

process.chdir(root);
process.exitCode = await exclusively(main).catch((error: unknown) => {
  tell(error instanceof Error ? error.message : String(error));
  tell("0 passed, 1 failed");
  return 1;
});

async function main(): Promise<number> {
  tell(`cluster: ${await providerName()}`);
  const wasUp = await isClusterUp();
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
  const summary = `${counts.passed} passed, ${counts.failed} failed${counts.skipped > 0 ? `, ${counts.skipped} skipped` : ""}`;
  mkdirSync(".cache", { recursive: true });
  writeFileSync(join(".cache", "e2e-summary"), `${summary}\n`);
  tell(summary);
  return counts.failed > 0 || counts.passed === 0 ? 1 : 0;
}

type Counts = { readonly passed: number; readonly failed: number; readonly skipped: number };

async function deployAndTest(): Promise<Counts> {
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
    "180000",
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
