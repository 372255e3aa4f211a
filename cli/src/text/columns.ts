/** The maximum width of help texts, unless a single word is longer. */
const maxWidth = 110;

/** Formats rows of a name and its explanation, aligned and wrapped. */
export function twoColumns(rows: readonly (readonly [left: string, right: string])[]): readonly string[] {
  const width = Math.max(0, ...rows.map(([left]) => left.length));
  return rows.flatMap(([left, right]) =>
    wrap(right, maxWidth - width - 4).map(
      (text, index) => `  ${(index === 0 ? left : "").padEnd(width)}  ${text}`,
    ),
  );
}

/** Formats rows of cells, with each column as wide as its widest cell; the last column is not padded. */
export function alignColumns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, cell.length);
  }
  return rows.map((row) =>
    row
      .map((cell, index) => (index === row.length - 1 ? cell : cell.padEnd(widths[index] ?? 0)))
      .join("  ")
      .trimEnd(),
  );
}

function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
