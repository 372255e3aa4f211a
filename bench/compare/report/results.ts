import type { Outcome } from "../loads/load.ts";

/** The subject that all ratios are of. */
export const own = "gateway";

/** One round of one subject. */
export type Sample = Outcome & { readonly cpuSeconds: number };

export type CaseResult = {
  readonly name: string;
  readonly title: string;
  readonly unit: string;
  readonly values?: readonly string[];
  /** The samples of each subject, a round each. */
  readonly subjects: Readonly<Record<string, readonly Sample[]>>;
};

/** Where and how a run was made, as its readers need it to repeat or to doubt it. */
export type Circumstances = {
  /** Of the commit that was measured; with "-dirty" where files were changed. */
  readonly commit: string;
  /** Day of the run, such as "2026-03-27". */
  readonly date: string;
  /** The variables of the command: `CASES=… make bench`. */
  readonly command: string;
  readonly node: string;
  /** Number and model of the processors. */
  readonly processors: string;
  /** Processes that wanted to run in the minute before the run. */
  readonly load: number;
};

export type Results = {
  readonly circumstances: Circumstances;
  readonly rounds: number;
  readonly seconds: number;
  readonly cases: readonly CaseResult[];
};

/** What a case says about a subject: a figure per round, and which way is better. */
export type Figure = { readonly label: string; readonly lowerIsBetter: boolean; of(sample: Sample): number };

/** Units per second of processor time; or the values that the case measures. */
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

/** How much better a subject is than another in the same rounds: above 1 it is ahead. Median, least and most. */
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
