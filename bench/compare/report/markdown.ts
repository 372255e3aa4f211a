import { figuresOf, median, own, ratioOf, type CaseResult, type Results, type Sample } from "./results.ts";

/**
 * A table with a row for each case and figure: the value of each subject, and the ratio of this proxy to each other
 * one with its spread.
 */
export function markdownOf({ circumstances, rounds, seconds, cases }: Results): string {
  const names = [...new Set(cases.flatMap(({ subjects }) => Object.keys(subjects)))];
  const others = names.filter((name) => name !== own);
  const head = ["Case", "", ...names, ...others.map((name) => `/ ${name}`)];
  const rows = cases.flatMap((one) => rowsOf(one, names, others));
  const { commit, date, command, node, processors, load } = circumstances;
  return [
    `\`${command}\`, commit ${commit}, ${date}, Node.js ${node.slice(1)}, ${processors}, load average ${load.toFixed(1)} at the beginning.`,
    `Medians of ${rounds} interleaved rounds of ${seconds} s each. A ratio above 1 means that this proxy is ahead; in brackets its least and greatest value.`,
    "",
    line(head),
    line(head.map(() => "---")),
    ...rows.map(line),
    "",
  ].join("\n");
}

function rowsOf(one: CaseResult, names: readonly string[], others: readonly string[]): readonly string[][] {
  const samplesOf = (name: string): readonly Sample[] => one.subjects[name] ?? [];
  return figuresOf(one).map((figure, index) => [
    index === 0 ? `\`${one.name}\`: ${one.title}` : "",
    figure.label,
    ...names.map((name) => {
      const samples = samplesOf(name);
      const errors = samples.reduce((sum, sample) => sum + sample.errors, 0);
      const value = median(samples.map((sample) => figure.of(sample)));
      if (Number.isNaN(value)) return "–";
      return `${format(value)}${errors > 0 ? ` (${errors} errors)` : ""}`;
    }),
    ...others.map((name) => {
      const ratio = ratioOf(figure, samplesOf(own), samplesOf(name));
      if (Number.isNaN(ratio.median)) return "–";
      return `**${ratio.median.toFixed(2)}** (${ratio.least.toFixed(2)}–${ratio.most.toFixed(2)})`;
    }),
  ]);
}

const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

const format = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString("en-US") : value.toFixed(value >= 10 ? 1 : 2);
