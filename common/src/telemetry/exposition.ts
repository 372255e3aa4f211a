import { setImmediate as nextTurn } from "node:timers/promises";
import type { Metric } from "prom-client";
import { labelReader, valuesPerSeries, type Labels, type MetricSnapshot } from "./metric-snapshot.ts";
import { exportMetrics, type AnyMetricSet, type MetricExport } from "./metric-set.ts";

/** The text of `/metrics` with its media type. */
export type Exposition = { readonly contentType: string; readonly body: string };

/** The number of values after which the event loop continues: some milliseconds of work. */
const valuesPerTurn = 4_000;

/** The present values of sets in the Prometheus text format. */
export const exposeMetrics = (...sets: readonly AnyMetricSet[]): Promise<Exposition> =>
  exposeExport(exportMetrics(...sets));

/**
 * Writes values in the Prometheus text format, version 0.0.4. Yields to the event loop regularly, since the text of a
 * proxy with ten thousand routes has twenty megabytes.
 */
export async function exposeExport(exported: MetricExport): Promise<Exposition> {
  // Loaded on first use, because it is not needed for the start.
  const { Registry } = await import("prom-client");
  const pieces: string[] = [];
  for (const snapshot of exported) {
    const seriesPerTurn = Math.ceil(valuesPerTurn / valuesPerSeries(snapshot.declaration));
    for (let from = 0; from === 0 || from < snapshot.keys.length; from += seriesPerTurn) {
      const registry = new Registry();
      registry.registerMetric(asMetric(snapshot, from, from + seriesPerTurn));
      const text = await registry.metrics();
      pieces.push(from === 0 ? text : withoutHead(text));
      if (from > 0) await nextTurn();
    }
  }
  return { contentType: Registry.PROMETHEUS_CONTENT_TYPE, body: pieces.join("") };
}

/**
 * Adapts a snapshot for a registry, which reads only name, help, type and values of a metric; the classes of
 * prom-client are not needed.
 */
const asMetric = (snapshot: MetricSnapshot, from: number, to: number): Metric => {
  const { name, help, type } = snapshot.declaration;
  const values = [...valuesOf(snapshot, from, to)];
  return { name, get: () => Promise.resolve({ name, help, type, values }) } as unknown as Metric;
};

/** One line of the exposition. `sharedLabels` is a label set that prom-client formats once and remembers. */
type MetricValue = {
  readonly value: number | undefined;
  readonly labels: Labels;
  readonly metricName: string;
  readonly sharedLabels: Labels;
};

const none: Labels = {};

/** Yields the values of the series in a range of indexes. */
function* valuesOf({ declaration, keys, values }: MetricSnapshot, from: number, to: number) {
  const { name, type, buckets = [] } = declaration;
  const labelsOf = labelReader(declaration);
  const width = valuesPerSeries(declaration);
  const bounds = [...buckets.map(String), "+Inf"].map((le) => ({ le }));
  for (const [index, key] of keys.slice(from, to).entries()) {
    const at = (from + index) * width;
    const sharedLabels = labelsOf(key);
    const line = (metricName: string, value: number | undefined, labels = none): MetricValue => ({
      metricName,
      value,
      labels,
      sharedLabels,
    });
    if (type !== "histogram") {
      yield line(name, values[at]);
      continue;
    }
    for (const [bucket, le] of bounds.entries()) yield line(`${name}_bucket`, values[at + bucket], le);
    yield line(`${name}_sum`, values[at + width - 1]);
    yield line(`${name}_count`, values[at + width - 2]);
  }
}

/** Returns the lines of the values, without the two that describe the metric. */
const withoutHead = (text: string): string => text.slice(text.indexOf("\n", text.indexOf("\n") + 1) + 1);
