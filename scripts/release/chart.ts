/**
 * The chart as a package, and the index of a repository that contains it.
 * https://helm.sh/docs/topics/chart_repository/
 */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parse, parseDocument, stringify } from "yaml";
import { writeTarGz } from "./archive.ts";
import { sha256Of } from "./checksums.ts";
import { root, type ReleaseSource } from "./source.ts";

const chartName = "svc-gateway";

/** Packs the chart with this version as `file`; `scratch` is an empty folder for its content. */
export function packChart(file: string, scratch: string, { version, epochSeconds }: ReleaseSource): void {
  const folder = join(scratch, chartName);
  mkdirSync(folder, { recursive: true });
  cpSync(join(root, "config/chart"), folder, { recursive: true });
  cpSync(join(root, "LICENSE"), join(folder, "LICENSE"));
  const path = join(folder, "Chart.yaml");
  const chart = parseDocument(readFileSync(path, "utf8"));
  chart.set("version", version);
  chart.set("appVersion", version);
  writeFileSync(path, chart.toString());
  // Helm puts Chart.yaml first in its own archives, but accepts any order.
  writeTarGz(file, folder, { epochSeconds, prefix: chartName });
}

/** Writes the index of a chart repository that has one chart, in the same folder. */
export function writeChartIndex(file: string, chartFile: string, source: ReleaseSource): void {
  const chart = parse(readFileSync(join(root, "config/chart/Chart.yaml"), "utf8")) as object;
  const created = new Date(source.epochSeconds * 1000).toISOString();
  const entry = {
    ...chart,
    version: source.version,
    appVersion: source.version,
    created,
    digest: sha256Of(readFileSync(chartFile)),
    urls: [basename(chartFile)],
  };
  writeFileSync(file, stringify({ apiVersion: "v1", entries: { [chartName]: [entry] }, generated: created }));
}
