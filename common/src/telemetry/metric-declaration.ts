/**
 * The function that merges the values of one series from several workers: `/metrics` shows the pod, not its threads.
 */
export type MetricMerge = "sum" | "max" | "min";

/**
 * A metric as data, from which the exposition, the cached series of the hot path and docs/reference/metrics.md are
 * derived. `labels` names each label and its values, if they are known in advance.
 */
export type MetricDeclaration<Label extends string = string> = {
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string;
  readonly labels: Readonly<Record<Label, readonly string[]>>;
  readonly merge: MetricMerge;
  /** Upper bounds of a histogram, in the unit of its name. */
  readonly buckets?: readonly number[];
};

export type CounterDeclaration<Label extends string = string> = MetricDeclaration<Label> & {
  readonly type: "counter";
};
export type GaugeDeclaration<Label extends string = string> = MetricDeclaration<Label> & {
  readonly type: "gauge";
};
export type HistogramDeclaration<Label extends string = string> = MetricDeclaration<Label> & {
  readonly type: "histogram";
  readonly buckets: readonly number[];
};

type Labels<Label extends string> = Readonly<Record<Label, readonly string[]>>;

/** Declares a counter. Counters of work that each worker repeats (`merge: "max"`) show one worker's count. */
export const counter = <Label extends string = never>(
  name: string,
  help: string,
  labels: Labels<Label> = {} as Labels<Label>,
  merge: MetricMerge = "sum",
): CounterDeclaration<Label> => ({ name, type: "counter", help, labels, merge });

/** Declares a gauge. A gauge of a value that each worker holds separately (`merge: "max"`) is not summed. */
export const gauge = <Label extends string = never>(
  name: string,
  help: string,
  labels: Labels<Label> = {} as Labels<Label>,
  merge: MetricMerge = "sum",
): GaugeDeclaration<Label> => ({ name, type: "gauge", help, labels, merge });

/** Declares a histogram with ascending bucket bounds. */
export const histogram = <Label extends string = never>(
  name: string,
  help: string,
  buckets: readonly number[],
  labels: Labels<Label> = {} as Labels<Label>,
  merge: MetricMerge = "sum",
): HistogramDeclaration<Label> => ({ name, type: "histogram", help, labels, buckets, merge });
