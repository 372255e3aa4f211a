/** Formats the report of a migration: as text, and as a table of Markdown. */
import type { Paint } from "../text/paint.ts";
import { formatUnread, formatUnreadMarkdown } from "../text/unread-ingresses.ts";
import { markdownCell } from "../text/markdown-cell.ts";
import type { MigrationReport, MigrationRow } from "./migration-report.ts";

const wordOf = ({ outcome, accepted }: MigrationRow): string => (accepted === true ? "accepted" : outcome);

const nameOf = ({ setting, isDefault }: MigrationRow): string =>
  isDefault === true ? `${setting} (default)` : setting;

/** Formats the report as text, by Ingress; equal differences in the defaults of several Ingresses appear once. */
export function formatMigration(report: MigrationReport, paint: Paint): string {
  const own = report.rows.filter(({ isDefault }) => isDefault !== true);
  const blocks = [
    ...[...Map.groupBy(own, ({ ingress }) => ingress)].map(([ingress, rows]) => [
      paint.bold(`Ingress ${ingress}`),
      ...rows.flatMap((row) => formatRow(row, "", paint)),
    ]),
    ...defaultBlocks(report, paint),
    ...formatUnread(report.unread, "Not read, and left as written", paint),
    ...(report.todo.length === 0
      ? []
      : [[paint.bold("Before the manifests are applied"), ...report.todo.map((command) => `  ${command}`)]]),
    [summaryOf(report)],
  ];
  return blocks.map((lines) => `${lines.join("\n")}\n`).join("\n");
}

function defaultBlocks({ rows }: MigrationReport, paint: Paint): readonly (readonly string[])[] {
  const defaults = rows.filter(({ isDefault }) => isDefault === true);
  if (defaults.length === 0) return [];
  const alike = Map.groupBy(defaults, (row) => `${wordOf(row)} ${row.setting} ${row.texts.join(" ")}`);
  const lines = [...alike.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const whose = group.length === 1 ? first.ingress : `${group.length} Ingresses`;
    const { file: _, ...row } = first;
    return formatRow(row, `  ${paint.dim(whose)}`, paint);
  });
  return [[paint.bold("Defaults of ingress-nginx"), ...lines]];
}

function formatRow(row: MigrationRow, behind: string, paint: Paint): readonly string[] {
  const word = paintOutcome(row, wordOf(row).padEnd(8), paint);
  const place = row.file === undefined ? "" : `  ${paint.dim(`${row.file}:${row.line}:${row.column}`)}`;
  const name = row.isDefault === true ? row.setting : nameOf(row);
  return [`  ${word} ${name}${place}${behind}`, ...row.texts.map((text) => `           ${text}`)];
}

function paintOutcome({ outcome, accepted }: MigrationRow, text: string, paint: Paint): string {
  if (outcome === "lost") return accepted === true ? paint.yellow(text) : paint.red(text);
  return outcome === "changed" ? paint.yellow(text) : paint.green(text);
}

function summaryOf({ summary }: MigrationReport): string {
  const accepted = summary.accepted === 0 ? "" : ` (${summary.accepted} accepted)`;
  const ingresses = summary.ingresses === 1 ? "1 Ingress" : `${summary.ingresses} Ingresses`;
  return `${ingresses} of ingress-nginx: ${summary.same} same, ${summary.changed} changed, ${summary.lost} lost${accepted}`;
}

/** Formats the report as one table, for a pull request or a page. */
export function formatMigrationMarkdown(report: MigrationReport): string {
  const rows = report.rows.map((row) => [
    row.ingress,
    `\`${nameOf(row)}\``,
    wordOf(row),
    markdownCell(row.texts.join("; ")),
    row.file === undefined ? "" : `${markdownCell(row.file)}:${row.line}`,
  ]);
  const rule = ["---", "---", "---", "---", "---"];
  const table = [["Ingress", "Setting", "Outcome", "How or why", "Line"], rule, ...rows];
  const todo =
    report.todo.length === 0
      ? ""
      : `\nBefore the manifests are applied:\n\n${report.todo.map((command) => `- \`${command}\``).join("\n")}\n`;
  return `${table.map((cells) => `| ${cells.join(" | ")} |`).join("\n")}\n${formatUnreadMarkdown(report.unread, "Not read, and left as written")}${todo}\n${summaryOf(report)}\n`;
}
