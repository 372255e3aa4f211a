/** The custom resource definitions of the chart: crds/ is the source, Helm packages only files inside the chart. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const source = fileURLToPath(new URL("../crds/", import.meta.url));

/** Path in the work tree and text of each definition inside the chart. */
export const chartCrds = (): ReadonlyMap<string, string> =>
  new Map(
    readdirSync(source)
      .filter((name) => name.endsWith(".yaml"))
      .sort()
      .map((name) => [`config/chart/files/crds/${name}`, readFileSync(`${source}${name}`, "utf8")]),
  );
