/** The items of a comma-separated value: trimmed, empty ones dropped. */
export function splitCsv(text: string): readonly string[] {
  return nonEmpty(text.split(","));
}

/** The lines of a newline-list value (LF or CRLF): trimmed, empty ones dropped. Commas have no meaning in a line. */
export function splitLines(text: string): readonly string[] {
  return nonEmpty(text.split("\n"));
}

function nonEmpty(items: readonly string[]): readonly string[] {
  return items.map((item) => item.trim()).filter((item) => item !== "");
}
