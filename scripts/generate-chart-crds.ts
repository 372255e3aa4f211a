/**
 * The custom resource definitions of the chart, copied from crds/ because Helm packages only files inside the chart.
 */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const source = fileURLToPath(new URL("../crds/", import.meta.url));

/** The text of each definition, by its path in the chart relative to the work tree. */
export const chartCrds = (): ReadonlyMap<string, string> =>
  new Map(
    readdirSync(source)
      .filter((name) => name.endsWith(".yaml"))
      .sort()
      .map((name) => [`config/chart/files/crds/${name}`, readFileSync(`${source}${name}`, "utf8")]),
  );
