/** The table of values in config/chart/README.md, from the completed schema of the chart. */
import type { Schema, SchemaNode } from "./generate-chart-schema.ts";

type Row = { readonly name: string; readonly node: SchemaNode };

const start = "<!-- values: written by scripts/generate-chart.ts -->";
const end = "<!-- end of values -->";

/** The page with the current values between its two marks. */
export function readmeWithValues(page: string, schema: Schema): string {
  const [before, rest] = page.split(start);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined)
    throw new Error("config/chart/README.md has no marks around the table of values");
  const rows = valueRows(schema).map(
    ({ name, node }) =>
      `| \`${name}\` | ${typeText(node)} | \`${JSON.stringify(node.default)}\` | ${node.description ?? ""} |`,
  );
  return [
    `${before}${start}\n`,
    "| Value | Type | Default | Meaning |",
    "|---|---|---|---|",
    ...rows,
    `\n${end}${after}`,
  ].join("\n");
}

/** One row for each value with a description, in the order of the schema. */
export const valueRows = ({ properties }: SchemaNode, prefix = ""): readonly Row[] =>
  Object.entries(properties ?? {}).flatMap(([key, node]) => {
    const name = `${prefix}${key}`;
    return node.description === undefined ? valueRows(node, `${name}.`) : [{ name, node }];
  });

/** A short description of the type of a value. */
function typeText(node: SchemaNode): string {
  const { type, $ref, enum: choices, anyOf, items, minimum, maximum } = node;
  if (choices !== undefined) return choices.map((one) => `\`${JSON.stringify(one)}\``).join(", ");
  if (anyOf !== undefined) return anyOf.map(typeText).join(" or ");
  if ($ref !== undefined) return refTexts[$ref.slice("#/definitions/".length)] ?? "map";
  if (type === "array") return items?.type === "string" ? "list of strings" : "list";
  if (type === "object") return "map";
  const base = [type].flat().join(" or ");
  if (minimum !== undefined && maximum !== undefined) return `${base}, ${minimum} to ${maximum}`;
  return minimum === undefined ? base : `${base}, at least ${minimum}`;
}

/** The texts for those definitions of the schema that are not maps. */
const refTexts: Readonly<Record<string, string>> = { duration: "duration" };
