import { accessFields } from "../common/src/values/access-fields.ts";

const start =
  "<!-- fields: written by scripts/generate-docs.ts from common/src/values/access-fields.ts; change it there -->";
const end = "<!-- end of fields -->";

/** docs/reference/access-log.md with the current fields between its two marks. */
export function accessLogPage(page: string): string {
  const [before, rest] = page.split(start);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined)
    throw new Error("docs/reference/access-log.md has no marks around the table of fields");
  const rows = accessFields.map(
    ({ name, type, isUsual, meaning }) =>
      `| \`${name}\` | ${type} | ${isUsual ? "yes" : "no"} | ${meaning} |`,
  );
  return [
    `${before}${start}\n`,
    "| Field | Type | Usual | Meaning |",
    "| --- | --- | --- | --- |",
    ...rows,
    `\n${end}${after}`,
  ].join("\n");
}
