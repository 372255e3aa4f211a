/**
 * Draws the dashboards of the chart for the documentation. Two controllers and two shared proxies, with the traffic
 * of the soak and with failing requests, are scraped by a real Prometheus, which then answers the queries of every
 * panel. See docs/operations.md, "Monitoring".
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { dashboardPicture } from "../../scripts/pictures/dashboard/dashboard.ts";
import { isInside, openNetwork, runFolder, runInside } from "../control/isolation.ts";
import { areLogsKept, isInstalled, removeFolder, temporaryFolder } from "../processes.ts";
import { readDashboard } from "./panels.ts";
import { record } from "./run.ts";

const seconds = Number(process.env["SECONDS"] ?? 300);
const dashboards = resolve(import.meta.dirname, "../../config/chart/dashboards");
const images = resolve(import.meta.dirname, "../../docs/images");

const printLine = (line: string): void => void process.stdout.write(`${line}\n`);

async function outside(): Promise<number> {
  const missing = ["unshare", "ip", "prometheus"].filter((command) => !isInstalled(command));
  if (missing.length > 0) {
    printLine(`the dashboards need ${missing.join(", ")}`);
    return 2;
  }
  const folder = temporaryFolder("dashboards", undefined, areLogsKept);
  try {
    return await runInside(folder, "");
  } finally {
    if (areLogsKept) printLine(`logs stay in ${folder}`);
    else removeFolder(folder);
  }
}

async function inside(): Promise<number> {
  try {
    openNetwork();
    const recording = await record(runFolder(), seconds, printLine);
    for (const file of readdirSync(dashboards)) {
      const data = await readDashboard(readFileSync(join(dashboards, file), "utf8"), recording);
      writeFileSync(
        join(images, file.replace("svc-gateway", "dashboard").replace(".json", ".svg")),
        dashboardPicture(data),
      );
      const empty = data.panels.filter(({ kind, lines }) => kind !== "row" && lines.length === 0);
      printLine(
        `${data.title}: ${data.panels.length} panels; without data: ${empty.map(({ title }) => title).join(", ")}`,
      );
      for (const { label, values } of data.variables) printLine(`  ${label}: ${values.join(", ")}`);
    }
    for (const { name, state } of await recording.prometheus.alerts()) printLine(`${name} is ${state}`);
    return 0;
  } catch (error) {
    printLine(error instanceof Error ? (error.stack ?? error.message) : String(error));
    return 2;
  }
}

// Processes that still run inside end with their namespace.
if (isInside()) process.exit(await inside());
process.exitCode = await outside();
