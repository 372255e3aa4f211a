import { markdownOf } from "../bench/compare/report/markdown.ts";
import { benchmarkResults } from "./benchmark-results.ts";

/** Generates docs/reference/benchmark-figures.md from the results that are kept in bench/results. */
export const benchmarkFiguresPage = (): string => `# Benchmark figures

<!-- Written by scripts/generate-docs.ts from bench/results/published.json; to publish another run, copy bench/results/latest.json there. -->

[The benchmarks](../benchmarks.md) say what is measured, and why it is as it is.

![Each proxy beside nginx, case by case](../images/benchmarks.svg)

${markdownOf(benchmarkResults())}`;
