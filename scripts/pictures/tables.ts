/** Reads tables of pages from which plots are drawn, so that both show the same values. */

/** The rows of the first table after a heading, by the names of the columns. Throws if there is none. */
export function tableAfter(markdown: string, heading: string): readonly Readonly<Record<string, string>>[] {
  const start = markdown.indexOf(`\n${heading}\n`);
  const lines = start < 0 ? [] : markdown.slice(start).split("\n");
  const first = lines.findIndex((line) => line.startsWith("|"));
  const end = lines.findIndex((line, index) => index > first && !line.startsWith("|"));
  if (first < 0) throw new Error(`There is no table after "${heading}", from which a picture is drawn`);
  const [head = [], , ...rows] = lines.slice(first, end < 0 ? undefined : end).map(cellsOf);
  return rows.map((cells) => Object.fromEntries(head.map((name, index) => [name, cells[index] ?? ""])));
}

const cellsOf = (line: string): readonly string[] =>
  line
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());

/** The numbers of a cell, such as 0.4 and 5.7 of "0.4 to 5.7 s". */
export const numbersOf = (cell: string): readonly number[] =>
  [...cell.replaceAll(",", "").matchAll(/\d+(?:\.\d+)?/g)].map(([digits]) => Number(digits));
