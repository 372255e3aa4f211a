import { AggregatorRegistry, Registry, type Metric } from "prom-client";
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
  type MetricSnapshot,
} from "./metric-family.ts";

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

/** Text of `/metrics` with its media type. */
export type Exposition = { readonly contentType: string; readonly body: string };

/** Creates the families of declared metrics. */
export function createMetricSet<const Declarations extends MetricDeclarations>(
  declarations: Declarations,
): MetricSet<Declarations> {
  return Object.fromEntries(
    Object.entries(declarations).map(([key, declaration]) => [key, createFamily(declaration)]),
  ) as MetricSet<Declarations>;
}

/** The families of sets as plain data, for `mergeExports`. */
export function exportMetrics(...sets: readonly AnyMetricSet[]): MetricExport {
  return families(sets).map((family) => family.collect("complete"));
}

/** The families of sets in the Prometheus text format. */
export async function exposeMetrics(...sets: readonly AnyMetricSet[]): Promise<Exposition> {
  const registry = new Registry();
  for (const family of families(sets)) {
    // A registry asks a metric for its name, its values and its type only; its classes are not needed.
    registry.registerMetric({
      name: family.declaration.name,
      getForPromString: () => Promise.resolve(family.collect("shared")),
      get: () => Promise.resolve(family.collect("complete")),
    } as unknown as Metric);
  }
  return { contentType: registry.contentType, body: await registry.metrics() };
}

/** Merges the exports of several workers into one, each metric as its declaration says. */
export async function mergeExports(exports: readonly MetricExport[]): Promise<MetricExport> {
  return (await aggregate(exports).getMetricsAsJSON()) as unknown as MetricExport;
}

/** The merged exports of several workers in the Prometheus text format. */
export async function exposeExports(exports: readonly MetricExport[]): Promise<Exposition> {
  const registry = aggregate(exports);
  return { contentType: registry.contentType, body: await registry.metrics() };
}

/** Families under any keys. */
export type AnyMetricSet = Readonly<Record<string, MetricFamily<unknown, never>>>;

function families(sets: readonly AnyMetricSet[]): readonly MetricFamily<unknown, never>[] {
  return sets.flatMap((set) => Object.values(set));
}

function aggregate(exports: readonly MetricExport[]): Registry {
  return AggregatorRegistry.aggregate(exports.map((one) => [...one]) as never);
}

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
