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

/** The label values of a series in the order of the declaration. */
export const labelValues = (key: string): readonly string[] => key.split("\u0000");

/** A snapshot without the series whose labels do not pass. */
export function keepSeries(
  snapshot: MetricSnapshot,
  isKept: (labels: Readonly<Record<string, string>>) => boolean,
): MetricSnapshot {
  const { declaration, keys, values } = snapshot;
  const names = Object.keys(declaration.labels);
  const width = valuesPerSeries(declaration);
  const kept = keys.map((key) => {
    const own = labelValues(key);
    return isKept(Object.fromEntries(names.map((name, index) => [name, own[index] ?? ""])));
  });
  if (kept.every(Boolean)) return snapshot;
  return {
    declaration,
    keys: keys.filter((_, index) => kept[index]),
    values: values.filter((_, index) => kept[Math.floor(index / width)]),
  };
}
