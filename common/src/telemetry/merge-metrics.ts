import { setImmediate as nextTurn } from "node:timers/promises";
import type { MetricMerge } from "./metric-declaration.ts";
import { valuesPerSeries, type MetricSnapshot } from "./metric-snapshot.ts";
import type { MetricExport } from "./metric-set.ts";

/** The number of series after which the event loop continues: some milliseconds of work. */
const seriesPerTurn = 2_000;

/**
 * Merges the exports of several workers into one, each metric as specified by its declaration. Yields to the event loop
 * regularly, since a proxy can have hundreds of thousands of series.
 */
export async function mergeExports(exports: readonly MetricExport[]): Promise<MetricExport> {
  const byName = Map.groupBy(exports.flat(), ({ declaration }) => declaration.name);
  const merged: MetricSnapshot[] = [];
  for (const snapshots of byName.values()) merged.push(await mergeSnapshots(snapshots));
  return merged;
}

async function mergeSnapshots(snapshots: readonly MetricSnapshot[]): Promise<MetricSnapshot> {
  const [first, ...others] = snapshots as readonly [MetricSnapshot, ...MetricSnapshot[]];
  if (others.length === 0) return first;
  const { declaration } = first;
  const width = valuesPerSeries(declaration);
  const keys: string[] = [];
  const places = new Map<string, number>();
  const values = new Float64Array(snapshots.reduce((sum, one) => sum + one.values.length, 0));
  let series = 0;
  for (const one of snapshots) {
    for (const [index, key] of one.keys.entries()) {
      const from = index * width;
      const known = places.get(key);
      if (known === undefined) {
        const place = keys.length * width;
        places.set(key, place);
        keys.push(key);
        for (let i = 0; i < width; i += 1) values[place + i] = one.values[from + i] as number;
      } else {
        for (let i = 0; i < width; i += 1) {
          const at = known + i;
          values[at] = mergers[declaration.merge](values[at] as number, one.values[from + i] as number);
        }
      }
      series += 1;
      if (series % seriesPerTurn === 0) await nextTurn();
    }
  }
  return { declaration, keys, values: values.slice(0, keys.length * width) };
}

const mergers: { readonly [Merge in MetricMerge]: (a: number, b: number) => number } = {
  sum: (a, b) => a + b,
  max: Math.max,
  min: Math.min,
};
