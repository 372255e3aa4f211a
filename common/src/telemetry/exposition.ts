import { setImmediate as nextTurn } from "node:timers/promises";
import type { MetricDeclaration } from "./metric-declaration.ts";
import { labelValues, valuesPerSeries, type MetricSnapshot } from "./metric-snapshot.ts";
import { exportMetrics, type AnyMetricSet, type MetricExport } from "./metric-set.ts";

/** Text of `/metrics` with its media type. */
export type Exposition = { readonly contentType: string; readonly body: string };

const contentType = "text/plain; version=0.0.4; charset=utf-8";

/** A piece of the text after which the event loop turns: some milliseconds. */
const pieceLength = 256 * 1024;

/** The present values of sets in the Prometheus text format. */
export const exposeMetrics = (...sets: readonly AnyMetricSet[]): Promise<Exposition> =>
  exposeExport(exportMetrics(...sets));

/**
 * Writes values in the Prometheus text format, version 0.0.4. Works in turns of the event loop, since the text of a proxy
 * with ten thousand routes is twenty megabytes.
 */
export async function exposeExport(exported: MetricExport): Promise<Exposition> {
  const pieces: string[] = [];
  let lines: string[] = [];
  let length = 0;
  for (const snapshot of exported) {
    lines.push(headOf(snapshot.declaration));
    for (const ofSeries of linesOf(snapshot)) {
      lines.push(ofSeries);
      length += ofSeries.length;
      if (length < pieceLength) continue;
      pieces.push(lines.join(""));
      lines = [];
      length = 0;
      await nextTurn();
    }
  }
  return { contentType, body: [...pieces, ...lines].join("") };
}

const headOf = ({ name, help, type }: MetricDeclaration): string =>
  `# HELP ${name} ${help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}\n# TYPE ${name} ${type}\n`;

/** The lines of one series after the other. */
function* linesOf({ declaration, keys, values }: MetricSnapshot): Generator<string> {
  const { name, type, buckets = [] } = declaration;
  const labelNames = Object.keys(declaration.labels);
  const width = valuesPerSeries(declaration);
  const bounds = [...buckets.map(String), "+Inf"];
  let at = 0;
  for (const key of keys) {
    const labels = labelText(labelNames, key);
    const braced = labels === "" ? "" : `{${labels}}`;
    if (type === "histogram") {
      const start = labels === "" ? `${name}_bucket{le="` : `${name}_bucket{${labels},le="`;
      let lines = "";
      for (const [bucket, bound] of bounds.entries()) {
        lines += `${start}${bound}"} ${numberText(values[at + bucket])}\n`;
      }
      const [count, sum] = [values[at + width - 2], values[at + width - 1]];
      yield `${lines}${name}_sum${braced} ${numberText(sum)}\n${name}_count${braced} ${numberText(count)}\n`;
    } else {
      yield `${name}${braced} ${numberText(values[at])}\n`;
    }
    at += width;
  }
}

function labelText(names: readonly string[], key: string): string {
  const values = labelValues(key);
  return names.map((name, index) => `${name}="${escapeValue(values[index] ?? "")}"`).join();
}

const escapeValue = (value: string): string =>
  /["\\\n]/.test(value)
    ? value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")
    : value;

function numberText(value: number | undefined): string {
  if (value === Number.POSITIVE_INFINITY) return "+Inf";
  return value === Number.NEGATIVE_INFINITY ? "-Inf" : String(value);
}
