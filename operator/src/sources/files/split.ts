/** One document of a stream, as its text and the number of the line (0-based) on which the text begins. */
export type DocumentText = { readonly text: string; readonly line: number };

/**
 * Splits a YAML stream at its document markers. A line that begins with `---` or `...` ends a document in every
 * context, even in quoted and block scalars (YAML 1.2.2, 9.1.2 and 9.1.4). Documents can therefore be separated without
 * parsing, and an edit of one of them requires the parsing of only that one. Directives and comments ahead of a
 * document stay with it.
 */
export function splitDocuments(stream: string): readonly DocumentText[] {
  const documents: DocumentText[] = [];
  let from = 0;
  let fromLine = 0;
  let onlyPreamble = true;
  let at = 0;
  let line = 0;
  const cut = (end: number, nextLine: number): void => {
    if (!onlyPreamble) documents.push({ text: stream.slice(from, end), line: fromLine });
    from = end;
    fromLine = nextLine;
    onlyPreamble = true;
  };
  while (at < stream.length) {
    const newline = stream.indexOf("\n", at);
    const next = newline === -1 ? stream.length : newline + 1;
    if (isMarker(stream, at, "---")) {
      if (!onlyPreamble) cut(at, line);
      onlyPreamble = false;
    } else if (isMarker(stream, at, "...")) {
      cut(next, line + 1);
    } else if (onlyPreamble) {
      onlyPreamble = isPreamble(stream, at, next);
    }
    at = next;
    line++;
  }
  cut(stream.length, line);
  return documents;
}

/** Whether the line at this offset begins with the marker, followed by white space or nothing. */
function isMarker(stream: string, at: number, marker: string): boolean {
  if (!stream.startsWith(marker, at)) return false;
  const after = stream[at + marker.length];
  return after === undefined || after === "\n" || after === "\r" || after === " " || after === "\t";
}

/** Whether a line belongs to the content of no document: it is blank, a comment or a directive. */
function isPreamble(stream: string, at: number, end: number): boolean {
  for (let index = at; index < end; index++) {
    const character = stream[index];
    if (character === "#") return true;
    if (character === "%") return index === at;
    if (character !== " " && character !== "\t" && character !== "\r" && character !== "\n") return false;
  }
  return true;
}
