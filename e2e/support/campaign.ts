/**
 * The common part of `make e2e` and `make conformance`: it provides a cluster while the tests run, and prints a line
 * with the results at the end. `.cache/<name>-results.json` contains them for .ci/run, with the names of failed
 * tests. KEEP=1 keeps a cluster that this run has started; a cluster that ran before is kept, unless FRESH=1 requests
 * a new one.
 */
import { textOf } from "../../common/src/values/errors.ts";
import {
  isFailed,
  resultsFile,
  summaryLine,
  withFailures,
  writeResults,
  type Results,
} from "../../scripts/results/results.ts";
import { exclusively } from "./exclusive.ts";
import { isClusterUp, providerName, root, showProvider } from "./provider.ts";
import { mustRun, signalPrograms } from "./run-program.ts";

const printLine = (line: string): void => void process.stdout.write(`${line}\n`);
const hourMs = 3_600_000;
const nothing: Results = { passed: 0, failed: 0, skipped: 0, failures: [] };

/** Runs tests on a running cluster, one such run at a time on this machine. Returns the exit code. */
export async function testOnCluster(name: string, test: () => Promise<Results>): Promise<number> {
  process.chdir(root);
  // A signal to this run ends the tests, and the cluster is still removed.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, signalPrograms);
  const results = await exclusively(() => withCluster(test)).catch((error: unknown) =>
    failedFor(nothing, error),
  );
  writeResults(resultsFile(name), results);
  printLine(`make ${name}: ${summaryLine(results)}`);
  return isFailed(results) ? 1 : 0;
}

async function withCluster(test: () => Promise<Results>): Promise<Results> {
  printLine(`cluster: ${await providerName()}`);
  // The cluster of a killed run cannot be distinguished from one that is in use.
  const isFresh = process.env["FRESH"] === "1";
  if (isFresh) await showProvider("down");
  const wasUp = !isFresh && (await isClusterUp());
  let results = nothing;
  try {
    // Any failure from here on must not look like a clean run.
    if (!wasUp) await showProvider("up");
    results = await test();
  } catch (error) {
    results = failedFor(results, error);
  }
  if (process.env["KEEP"] === "1" || wasUp) {
    printLine("the cluster keeps running; stop it with make cluster-down");
  } else {
    await showProvider("down").catch((error: unknown) => {
      results = failedFor(results, error);
    });
  }
  return results;
}

/** Prints an error and counts it under its first line. */
function failedFor(results: Results, error: unknown): Results {
  const text = textOf(error);
  printLine(text);
  return withFailures(results, [text.split("\n", 1)[0] ?? ""]);
}

/** Installs the current build on the running cluster, as `make deploy` does. */
export const deployRelease = (): Promise<string> =>
  mustRun(process.execPath, ["e2e/deploy/main.ts", "deploy"], { isShown: true, timeoutMs: hourMs });
