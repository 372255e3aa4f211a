import type {
  CounterDeclaration,
  GaugeDeclaration,
  HistogramDeclaration,
  MetricDeclaration,
} from "./metric-declaration.ts";
import { valuesPerSeries, type MetricSnapshot } from "./metric-snapshot.ts";

/** One counter series. Keep it where it is used: `inc` on a kept series is one addition. */
export class Counter {
  value = 0;

  inc(by: number = 1): void {
    this.value += by;
  }
}

/** One gauge series. */
export class Gauge {
  value = 0;

  set(value: number): void {
    this.value = value;
  }

  inc(by: number = 1): void {
    this.value += by;
  }

  dec(by: number = 1): void {
    this.value -= by;
  }
}

/** One histogram series: counts per bucket (not cumulative, the last one is +Inf) and the sum. */
export class Histogram {
  readonly counts: Float64Array;
  sum = 0;
  private readonly bounds: Float64Array;

  constructor(bounds: Float64Array) {
    this.bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
    const { bounds, counts } = this;
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket += 1;
    counts[bucket] = (counts[bucket] as number) + 1;
    this.sum += value;
  }
}

/** Label values of one series. */
export type LabelValues<Label extends string> = Readonly<Record<Label, string>>;

/** All series of one metric. */
export type MetricFamily<Series, Label extends string = string> = {
  readonly declaration: MetricDeclaration<Label>;
  /** Returns the series with these label values, which is created on first use and then remains the same object. */
  with(labels: LabelValues<Label>): Series;
  /** Removes the series whose label values match; values that are added to a removed series are lost. */
  remove(matches: (labels: LabelValues<Label>) => boolean): void;
  /** Returns the present values. */
  collect(): MetricSnapshot;
};

export type CounterFamily<Label extends string> = MetricFamily<Counter, Label>;
export type GaugeFamily<Label extends string> = MetricFamily<Gauge, Label>;
export type HistogramFamily<Label extends string> = MetricFamily<Histogram, Label>;

export const counterFamily = <Label extends string>(
  declaration: CounterDeclaration<Label>,
): CounterFamily<Label> => createFamily(declaration, () => new Counter(), writeValue);

export const gaugeFamily = <Label extends string>(declaration: GaugeDeclaration<Label>): GaugeFamily<Label> =>
  createFamily(declaration, () => new Gauge(), writeValue);

export function histogramFamily<Label extends string>(
  declaration: HistogramDeclaration<Label>,
): HistogramFamily<Label> {
  const bounds = Float64Array.from(declaration.buckets);
  return createFamily(declaration, () => new Histogram(bounds), writeHistogram);
}

/** Writes the values of a series, beginning at index `at`. */
type WriteSeries<Series> = (series: Series, values: Float64Array, at: number) => void;

const writeValue: WriteSeries<{ readonly value: number }> = ({ value }, values, at) => {
  values[at] = value;
};

const writeHistogram: WriteSeries<Histogram> = ({ counts, sum }, values, at) => {
  let count = 0;
  for (let bucket = 0; bucket < counts.length; bucket += 1) {
    count += counts[bucket] as number;
    values[at + bucket] = count;
  }
  values[at + counts.length] = sum;
};

function createFamily<Series, Label extends string>(
  declaration: MetricDeclaration<Label>,
  create: () => Series,
  writeSeries: WriteSeries<Series>,
): MetricFamily<Series, Label> {
  const labelNames = Object.keys(declaration.labels) as Label[];
  const width = valuesPerSeries(declaration);
  const all = new Map<string, { readonly labels: LabelValues<Label>; readonly series: Series }>();
  const family: MetricFamily<Series, Label> = {
    declaration,
    with(labels) {
      let key = "";
      for (const label of labelNames) key += `${labels[label]}\u0000`;
      const known = all.get(key);
      if (known !== undefined) return known.series;
      const series = create();
      const own = Object.fromEntries(labelNames.map((label) => [label, labels[label]])) as LabelValues<Label>;
      all.set(key, { labels: own, series });
      return series;
    },
    remove(matches) {
      for (const [key, { labels }] of all) if (matches(labels)) all.delete(key);
    },
    collect() {
      const values = new Float64Array(all.size * width);
      let at = 0;
      for (const { series } of all.values()) {
        writeSeries(series, values, at);
        at += width;
      }
      return { declaration, keys: [...all.keys()], values };
    },
  };
  for (const labels of knownLabelSets(declaration)) family.with(labels);
  return family;
}

/**
 * The maximum number of series of several labels that are created in advance. Combinations can include many that never
 * occur.
 */
const maxKnownSets = 8;

/**
 * Returns the series that exist from the start, at zero, so that a rate or an increase can be computed from the first
 * event: the series of a metric without labels, and those of labels with declared values, if there are few.
 */
function knownLabelSets<Label extends string>({
  labels,
}: MetricDeclaration<Label>): readonly LabelValues<Label>[] {
  let sets: readonly Partial<LabelValues<Label>>[] = [{}];
  for (const label of Object.keys(labels) as Label[]) {
    sets = sets.flatMap((set) => labels[label].map((value) => ({ ...set, [label]: value })));
  }
  return sets.length > maxKnownSets && Object.keys(labels).length > 1
    ? []
    : (sets as readonly LabelValues<Label>[]);
}
