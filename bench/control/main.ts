/**
 * Measures how fast a change reaches clients, and the resources that a controller of a large cluster needs: `serve
 * controller` and `serve proxy --shared` as processes, on a real kube-apiserver and etcd without a node. See
 * docs/scale.md.
 */
import { gatewayApiDefinitions } from "../../e2e/deploy/gateway-api-definitions.ts";
import { areLogsKept, isInstalled, removeFolder, temporaryFolder } from "../processes.ts";
import { missingPrograms } from "./api-server.ts";
import { isInside, openNetwork, runFolder, runInside } from "./isolation.ts";
import { figureTable } from "./report.ts";
import { runBenchmark } from "./run.ts";

const limitMs = 20 * 60_000;

const printLine = (line: string): void => void process.stdout.write(`${line}\n`);

/** Prepares namespaces and a folder for the run, and removes the folder afterwards unless logs are kept. */
async function outside(): Promise<number> {
  const commands = ["unshare", "ip"].filter((command) => !isInstalled(command));
  const programs = missingPrograms();
  if (commands.length > 0 || programs.length > 0) {
    printLine(`bench-control needs ${[...commands, ...programs].join(", ")}`);
    if (programs.length > 0) printLine("e2e/cluster/local.sh build builds the programs of the test cluster");
    return 2;
  }
  const folder = temporaryFolder("bench-control", undefined, areLogsKept);
  try {
    return await runInside(folder, await gatewayApiDefinitions("standard"));
  } finally {
    if (areLogsKept) printLine(`logs and profiles stay in ${folder}`);
    else removeFolder(folder);
  }
}

async function inside(): Promise<number> {
  const limit = setTimeout(() => {
    printLine(`timeout after ${limitMs / 60_000} minutes`);
    process.exit(2);
  }, limitMs);
  try {
    openNetwork();
    const figures = await runBenchmark(runFolder(), printLine);
    printLine("");
    printLine(figureTable(figures));
    return 0;
  } catch (error) {
    printLine(error instanceof Error ? (error.stack ?? error.message) : String(error));
    return 2;
  } finally {
    clearTimeout(limit);
  }
}

// Processes that still run inside end with their namespace.
if (isInside()) process.exit(await inside());
process.exitCode = await outside();
