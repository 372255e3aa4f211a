/**
 * What `make e2e` and `make conformance` have in common: a cluster for as long as the tests take, and a line at the end
 * that says how they went, which also goes to `.cache/<name>-summary` for .ci/run. KEEP=1 leaves a cluster that this
 * run has started as it is; one that was up before stays up, unless FRESH=1 asks for a new one.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { exclusively } from "./exclusive.ts";
import { isClusterUp, providerName, root, showProvider } from "./provider.ts";
import { mustRun, signalPrograms } from "./run.ts";

export type Counts = { readonly passed: number; readonly failed: number; readonly skipped: number };

const tell = (line: string): void => void process.stdout.write(`${line}\n`);
const hourMs = 3_600_000;

/** Runs tests with a cluster that is up, one such run at a time on this machine; gives the exit code. */
export async function testOnCluster(name: string, test: () => Promise<Counts>): Promise<number> {
  process.chdir(root);
  // Whoever ends this run ends the tests, and the cluster is still taken away.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, signalPrograms);
  const counts = await exclusively(() => withCluster(test)).catch((error: unknown): Counts => {
    tell(error instanceof Error ? error.message : String(error));
    return { passed: 0, failed: 1, skipped: 0 };
  });
  const { passed, failed, skipped } = counts;
  const summary = `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
  mkdirSync(".cache", { recursive: true });
  writeFileSync(join(".cache", `${name}-summary`), `${summary}\n`);
  tell(`make ${name}: ${summary}`);
  return failed > 0 || passed === 0 ? 1 : 0;
}

async function withCluster(test: () => Promise<Counts>): Promise<Counts> {
  tell(`cluster: ${await providerName()}`);
  // A run that was killed leaves a cluster that nobody can tell from one that somebody uses.
  const isFresh = process.env["FRESH"] === "1";
  if (isFresh) await showProvider("down");
  const wasUp = !isFresh && (await isClusterUp());
  const counts = { passed: 0, failed: 0, skipped: 0 };
  try {
    // Whatever ends badly from here on must not read like a clean run.
    if (!wasUp) await showProvider("up");
    Object.assign(counts, await test());
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
  return counts;
}

/** Installs what is built on the cluster that is up, as `make deploy` does. */
export const deployRelease = (): Promise<string> =>
  mustRun(process.execPath, ["e2e/deploy/main.ts", "deploy"], { isShown: true, timeoutMs: hourMs });
