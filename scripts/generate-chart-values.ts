/** The table of values in docs/installation.md, from the comments of config/chart/values.yaml. */
import { isMap, isScalar, parseDocument, type Pair } from "yaml";

type Row = { readonly name: string; readonly initial: string; readonly meaning: string };

const start = "<!-- values: written by scripts/generate-chart.ts -->";
const end = "<!-- end of values -->";

/** The page with the present values between its two marks. */
export function pageWithValues(page: string, valuesYaml: string): string {
  const [before, rest] = page.split(start);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined)
    throw new Error("docs/installation.md has no marks around the table of values");
  const rows = valueRows(valuesYaml).map(
    ({ name, initial, meaning }) => `| \`${name}\` | \`${initial}\` | ${meaning} |`,
  );
  return [
    `${before}${start}\n`,
    "| Value | Default | Meaning |",
    "|---|---|---|",
    ...rows,
    `\n${end}${after}`,
  ].join("\n");
}

/** One row per value that has a comment of its own, in the order of the file. */
export function valueRows(valuesYaml: string): readonly Row[] {
  const document = parseDocument(valuesYaml);
  return rowsOf(document.contents, "");
}

function rowsOf(node: unknown, prefix: string): readonly Row[] {
  if (!isMap(node)) return [];
  return node.items.flatMap((pair, index): readonly Row[] => {
    const name = `${prefix}${String(isScalar(pair.key) ? pair.key.value : pair.key)}`;
    const meaning = commentOf(pair, index === 0 ? node.commentBefore : undefined);
    if (meaning === undefined) return rowsOf(pair.value, `${name}.`);
    return [{ name, initial: JSON.stringify(toPlain(pair.value)), meaning }];
  });
}

/** The comment above a key. YAML gives that of the first key of a map to the map. */
function commentOf(pair: Pair, ofMap: string | null | undefined): string | undefined {
  const own = isScalar(pair.key) ? pair.key.commentBefore : undefined;
  const comment = own ?? ofMap;
  return comment == null
    ? undefined
    : comment
        .split("\n")
        .map((line) => line.trim())
        .join(" ");
}

const toPlain = (node: unknown): unknown =>
  node !== null && typeof node === "object" && "toJSON" in node && typeof node.toJSON === "function"
    ? (node.toJSON() as unknown)
    : null;
