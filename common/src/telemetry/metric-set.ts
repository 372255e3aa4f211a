import type {
  CounterDeclaration,
  GaugeDeclaration,
  HistogramDeclaration,
  MetricDeclaration,
} from "./metric-declaration.ts";
import {
  counterFamily,
  gaugeFamily,
  histogramFamily,
  type CounterFamily,
  type GaugeFamily,
  type HistogramFamily,
  type MetricFamily,
} from "./metric-family.ts";
import type { MetricSnapshot } from "./metric-snapshot.ts";

export type MetricDeclarations = Readonly<Record<string, MetricDeclaration>>;

/** The families of a set of declarations, under the same keys. */
export type MetricSet<Declarations extends MetricDeclarations> = {
  readonly [Key in keyof Declarations]: Declarations[Key] extends CounterDeclaration<infer Label>
    ? CounterFamily<Label>
    : Declarations[Key] extends GaugeDeclaration<infer Label>
      ? GaugeFamily<Label>
      : Declarations[Key] extends HistogramDeclaration<infer Label>
        ? HistogramFamily<Label>
        : never;
};

/** All values of a set as plain data, which can be sent from a worker to its supervisor. */
export type MetricExport = readonly MetricSnapshot[];

/** Creates the families of declared metrics. */
export function createMetricSet<const Declarations extends MetricDeclarations>(
  declarations: Declarations,
): MetricSet<Declarations> {
  return Object.fromEntries(
    Object.entries(declarations).map(([key, declaration]) => [key, createFamily(declaration)]),
  ) as MetricSet<Declarations>;
}

/** The present values of all families of sets. */
export const exportMetrics = (...sets: readonly AnyMetricSet[]): MetricExport =>
  sets.flatMap((set) => Object.values(set)).map((family) => family.collect());

/** Families under any keys. */
export type AnyMetricSet = Readonly<Record<string, MetricFamily<unknown, never>>>;

function createFamily(declaration: MetricDeclaration): MetricFamily<unknown> {
  switch (declaration.type) {
    case "counter":
      return counterFamily({ ...declaration, type: "counter" });
    case "gauge":
      return gaugeFamily({ ...declaration, type: "gauge" });
    case "histogram":
      return histogramFamily({ ...declaration, type: "histogram", buckets: declaration.buckets ?? [] });
  }
}
