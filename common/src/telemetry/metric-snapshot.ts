import type { MetricDeclaration } from "./metric-declaration.ts";

/**
 * The values of one metric at one moment, as plain data that is cheap to create and to send between threads: for ten
 * thousand histograms, one string and fourteen numbers each.
 */
export type MetricSnapshot = {
  readonly declaration: MetricDeclaration;
  /** The label values of each series in the order of the declaration, each followed by NUL. */
  readonly keys: readonly string[];
  /**
   * The values, `valuesPerSeries` numbers for each series: its value, or for a histogram the cumulative number of
   * observations up to each bucket, the last one being `+Inf`, and their sum.
   */
  readonly values: Float64Array;
};

export const valuesPerSeries = ({ type, buckets = [] }: MetricDeclaration): number =>
  type === "histogram" ? buckets.length + 2 : 1;

export type Labels = Readonly<Record<string, string>>;

/** Reads the labels of series from their keys. */
export function labelReader({ labels }: MetricDeclaration): (key: string) => Labels {
  const names = Object.keys(labels);
  return (key) => {
    const values = key.split("\u0000");
    return Object.fromEntries(names.map((name, index) => [name, values[index] ?? ""]));
  };
}

/** Returns a snapshot without the series whose labels do not pass. */
export function keepSeries(snapshot: MetricSnapshot, isKept: (labels: Labels) => boolean): MetricSnapshot {
  const { declaration, keys, values } = snapshot;
  const labelsOf = labelReader(declaration);
  const width = valuesPerSeries(declaration);
  const kept = keys.map((key) => isKept(labelsOf(key)));
  if (kept.every(Boolean)) return snapshot;
  return {
    declaration,
    keys: keys.filter((_, index) => kept[index]),
    values: values.filter((_, index) => kept[Math.floor(index / width)]),
  };
}
