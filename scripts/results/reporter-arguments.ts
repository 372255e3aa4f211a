/** Options of scripts/results/reporter.ts. */
export type ReporterOptions = {
  /** The reporter of mocha that shows the progress. */
  readonly shown: "dot" | "spec";
  /** The file to which a MochaRun is written. */
  readonly output: string;
};

/** Arguments that make mocha use that reporter; mocha resolves it from the root of the project. */
export const reporterArguments = ({ shown, output }: ReporterOptions): readonly string[] => [
  "--reporter",
  "./scripts/results/reporter.ts",
  "--reporter-option",
  `shown=${shown},output=${output}`,
];
