/** Formats the report about annotations: as text, and as a table of Markdown. */
import type { Outcome } from "@svc-gateway/operator/translate/ingress-nginx/report.ts";
import type { Paint } from "../text/paint.ts";
import { markdownCell } from "../text/markdown-cell.ts";
import { formatUnread, formatUnreadMarkdown } from "../text/unread-ingresses.ts";
import { outcomes, type AnnotationReport, type AnnotationRow } from "./annotation-report.ts";

/** The words for the outcomes in texts. */
export const outcomeWords: Readonly<Record<Outcome, string>> = {
  served: "served",
  "no-effect": "no effect",
  differently: "differs",
  refused: "refused",
};

const wordOf = ({ outcome, accepted }: AnnotationRow): string =>
  accepted === true ? "accepted" : outcomeWords[outcome];

/** Formats the report as text, by Ingress, with a summary from the best outcome to the worst. */
export function formatAnnotationReport(report: AnnotationReport, paint: Paint): string {
  const blocks = [...Map.groupBy(report.annotations, ({ ingress }) => ingress)].map(([ingress, rows]) => [
    paint.bold(`Ingress ${ingress}`),
    ...rows.flatMap((row) => formatRow(row, paint)),
  ]);
  const unread = formatUnread(report.unread, "Not read", paint);
  return [...blocks, ...unread, [summaryOf(report)]].map((lines) => `${lines.join("\n")}\n`).join("\n");
}

function formatRow(row: AnnotationRow, paint: Paint): readonly string[] {
  const word = paintOutcome(row, wordOf(row).padEnd(10), paint);
  const place = row.file === undefined ? "" : `  ${paint.dim(`${row.file}:${row.line}:${row.column}`)}`;
  const head = `  ${word} ${row.annotation}${place}`;
  return row.text === "" ? [head] : [head, `             ${row.text}`];
}

function paintOutcome({ outcome, accepted }: AnnotationRow, text: string, paint: Paint): string {
  if (outcome === "refused") return accepted === true ? paint.yellow(text) : paint.red(text);
  return outcome === "differently" ? paint.yellow(text) : paint.green(text);
}

function summaryOf({ summary }: AnnotationReport): string {
  const counts = outcomes.map((outcome) => `${summary[outcome]} ${outcomeWords[outcome]}`);
  const accepted = summary.accepted === 0 ? "" : ` (${summary.accepted} accepted)`;
  const ingresses = summary.ingresses === 1 ? "1 Ingress" : `${summary.ingresses} Ingresses`;
  const annotations = summary.annotations === 1 ? "1 annotation" : `${summary.annotations} annotations`;
  return `${ingresses} of ingress-nginx with ${annotations}: ${counts.join(", ")}${accepted}`;
}

/** Formats the report as one table, for a pull request or a page. */
export function formatMarkdown(report: AnnotationReport): string {
  const rows = report.annotations.map((row) => [
    row.ingress,
    `\`${row.annotation}\``,
    wordOf(row),
    markdownCell(row.text),
    row.file === undefined ? "" : `${markdownCell(row.file)}:${row.line}`,
  ]);
  const table = [["Ingress", "Annotation", "Outcome", "What is different", "Line"], rule, ...rows];
  return `${table.map((cells) => `| ${cells.join(" | ")} |`).join("\n")}\n${formatUnreadMarkdown(report.unread, "Not read")}\n${summaryOf(report)}\n`;
}

const rule = ["---", "---", "---", "---", "---"];
