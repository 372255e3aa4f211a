import type { Outcome } from "../loads/load.ts";

/** The subject of which ratios to all others are computed. */
export const own = "gateway";

/** One round of one subject. */
export type Sample = Outcome & { readonly cpuSeconds: number };

export type CaseResult = {
  readonly name: string;
  readonly title: string;
  readonly unit: string;
  readonly values?: readonly string[];
  /** The samples of each subject, one for each round. */
  readonly subjects: Readonly<Record<string, readonly Sample[]>>;
};

/** The circumstances of a run, which readers need to repeat it or to question it. */
export type Circumstances = {
  /** The commit that was measured, with "-dirty" if files were changed. */
  readonly commit: string;
  /** The day of the run, such as "2026-03-27". */
  readonly date: string;
  /** The command with its variables, such as `CASES=… make bench`. */
  readonly command: string;
  readonly node: string;
  /** Number and model of the processors. */
  readonly processors: string;
  /** The load average of the minute before the run: the number of processes that were ready to run. */
  readonly load: number;
};

export type Results = {
  readonly circumstances: Circumstances;
  readonly rounds: number;
  readonly seconds: number;
  readonly cases: readonly CaseResult[];
};

/** A value that a case measures for a subject in each round, and the direction in which it is better. */
export type Figure = { readonly label: string; readonly lowerIsBetter: boolean; of(sample: Sample): number };

/** The units per second of processor time, or the values that the case measures instead. */
export const figuresOf = ({ unit, values }: CaseResult): readonly Figure[] =>
  values === undefined
    ? [{ label: `${unit}/CPU s`, lowerIsBetter: false, of: ({ units, cpuSeconds }) => units / cpuSeconds }]
    : values.map((label) => ({
        label,
        lowerIsBetter: true,
        of: ({ values: measured }) => measured?.[label] ?? Number.NaN,
      }));

export function median(values: readonly number[]): number {
  const sorted = values.filter((value) => !Number.isNaN(value)).toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/**
 * The ratio of a subject to another one in the same rounds, as median, least and most. Above 1, the subject is
 * better.
 */
export function ratioOf(
  figure: Figure,
  subject: readonly Sample[],
  other: readonly Sample[],
): { readonly median: number; readonly least: number; readonly most: number } {
  const ratios = subject.map((sample, round) => {
    const counterpart = other[round];
    if (counterpart === undefined) return Number.NaN;
    const ratio = figure.of(sample) / figure.of(counterpart);
    return figure.lowerIsBetter ? 1 / ratio : ratio;
  });
  return { median: median(ratios), least: Math.min(...ratios), most: Math.max(...ratios) };
}
