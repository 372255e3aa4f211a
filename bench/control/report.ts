/** Figures, printed as lines and as a table. */

export type Figure = {
  readonly what: string;
  readonly value: number;
  readonly unit: "ms" | "MB" | "s" | "";
  /** The upper limit of the value. Without it, the value is shown for comparison only. */
  readonly target?: number;
};

/** The value that is not exceeded by this share of all values. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

const format = ({ value, unit }: Pick<Figure, "value" | "unit">): string =>
  `${value.toFixed(unit === "s" ? 2 : unit === "ms" ? 1 : 0)} ${unit}`.trimEnd();

export const figureLine = (figure: Figure): string =>
  `${figure.what}: ${format(figure)}${figure.target === undefined ? "" : ` (target ${figure.target} ${figure.unit})`}`;

/** A Markdown table in the form that docs/scale.md uses. */
export function figureTable(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => [
    figure.what,
    format(figure),
    figure.target === undefined ? "" : `${figure.target} ${figure.unit}`,
    figure.target === undefined ? "" : figure.value <= figure.target ? "met" : "missed",
  ]);
  const head = ["Figure", "Value", "Target", ""];
  const widths = head.map((title, column) =>
    Math.max(...[head, ...rows].map((row) => (row[column] ?? title).length)),
  );
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`;
  const rule = `| ${widths.map((width) => "-".repeat(Math.max(3, width))).join(" | ")} |`;
  return [line(head), rule, ...rows.map(line)].join("\n");
}
