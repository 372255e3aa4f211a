import type { MetricDeclaration } from "./metric-declaration.ts";

/**
 * The values of one metric at one moment as plain data that costs little to make and to send between threads: of ten
 * thousand histograms one string and fourteen numbers each.
 */
export type MetricSnapshot = {
  readonly declaration: MetricDeclaration;
  /** The label values of each series in the order of the declaration, each followed by NUL. */
  readonly keys: readonly string[];
  /**
   * As many numbers for each series as `valuesPerSeries` says: its value, or how many observations each bucket of a
   * histogram and those below it hold, the last one being `+Inf`, and their sum.
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

/** A snapshot without the series whose labels do not pass. */
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
