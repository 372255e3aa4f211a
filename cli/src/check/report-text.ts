import { formatRef } from "@svc-gateway/operator/api/object.ts";
import { alignColumns } from "../text/columns.ts";
import { describePath } from "../text/path.ts";
import type { Paint } from "../text/paint.ts";
import type { CheckedManifest, CheckFinding, CheckReport, Verdict } from "./report.ts";

/**
 * Formats the report as text: manifests by file, then findings about objects that flags name, conflicts, ignored
 * manifests, and a summary line.
 */
export const formatReport = (report: CheckReport, paint: Paint): string =>
  [
    ...[...Map.groupBy(report.manifests, groupOf(report))].map(([group, manifests]) => [
      paint.bold(group),
      ...manifests.flatMap((manifest) => formatManifest(manifest, report.notes !== undefined, paint)),
    ]),
    ...section("Named by flags", formatElsewhere(report, paint), paint),
    ...section("Conflicts", formatConflicts(report), paint),
    ...section("Not read by this gateway", formatIgnored(report), paint),
    ...section("Assumed", report.notes ?? [], paint),
    [formatSummary(report)],
  ]
    .map((lines) => `${lines.join("\n")}\n`)
    .join("\n");

/** The heading for a manifest: its file, or the namespace of an object in a cluster. */
const groupOf =
  ({ notes }: CheckReport) =>
  ({ file, object }: CheckedManifest): string => {
    if (notes === undefined) return file;
    return object?.namespace === undefined ? "Cluster" : `Namespace ${object.namespace}`;
  };

const section = (title: string, lines: readonly string[], paint: Paint): readonly (readonly string[])[] =>
  lines.length === 0 ? [] : [[paint.bold(title), ...lines.map((line) => `  ${line}`)]];

const verdictWords: Readonly<Record<Verdict, string>> = {
  ok: "ok",
  warning: "warning",
  error: "error",
  unserved: "unserved",
};

function formatManifest(
  { verdict, object, line, findings }: CheckedManifest,
  isLive: boolean,
  paint: Paint,
): readonly string[] {
  const name = object === undefined ? `a manifest without a name (line ${line})` : formatRef(object);
  const word = paintVerdict(verdict, verdictWords[verdict].padEnd(8), paint);
  return [`  ${word} ${name}`, ...findings.flatMap((finding) => formatFinding(finding, isLive, paint))];
}

function formatFinding(
  { severity, line, column, reason, field, message }: CheckFinding,
  isLive: boolean,
  paint: Paint,
): readonly string[] {
  const place = isLive ? "" : `${paint.dim(`${line}:${column}`.padEnd(8))} `;
  const head = `           ${place}${paintSeverity(severity, reason, paint)}`;
  return [
    field === undefined || message.startsWith(field) ? head : `${head}  ${field}`,
    `${isLive ? "           " : "                    "}${message}`,
  ];
}

const paintVerdict = (verdict: Verdict, text: string, paint: Paint): string =>
  verdict === "ok"
    ? paint.green(text)
    : paintSeverity(verdict === "unserved" ? "info" : verdict, text, paint);

function paintSeverity(severity: CheckFinding["severity"], text: string, paint: Paint): string {
  switch (severity) {
    case "error":
      return paint.red(text);
    case "warning":
      return paint.yellow(text);
    case "info":
      return paint.cyan(text);
  }
}

const formatConflicts = ({ conflicts }: CheckReport): readonly string[] =>
  alignColumns(
    conflicts.map(({ host, path, served, notServed }) => [
      host,
      describePath(path),
      `${formatRef(served)} is served, ${formatRef(notServed)} is not`,
    ]),
  );

const formatElsewhere = ({ elsewhere }: CheckReport, paint: Paint): readonly string[] =>
  elsewhere.flatMap(({ severity, reason, object, message }) => [
    `${paintSeverity(severity, reason, paint)}  ${formatRef(object)}`,
    `         ${message}`,
  ]);

const formatIgnored = ({ ignored }: CheckReport): readonly string[] =>
  alignColumns(
    ignored.map(({ file, line, column, apiVersion, kind, name }) => [
      `${file}:${line}:${column}`,
      `${apiVersion} ${kind}${name === "" ? "" : ` ${name}`}`,
    ]),
  );

function formatSummary({ summary }: CheckReport): string {
  const { manifests, ok, warning, error, unserved, ignored, elsewhere } = summary;
  const parts = [`${ok} as written`, `${warning} with warnings`, `${error} not served as written`];
  const more = [
    unserved === 0 ? "" : `, ${unserved} not for this gateway`,
    ignored === 0 ? "" : `; ${ignored} not read`,
    elsewhere === 0 ? "" : `; ${elsewhere} findings about what flags name`,
  ];
  return `${manifests} ${manifests === 1 ? "object" : "objects"}: ${parts.join(", ")}${more.join("")}`;
}
