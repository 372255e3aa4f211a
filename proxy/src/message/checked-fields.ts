/**
 * The fields of a message as one of the proxy's own codecs has read and checked them, with the text that they came in. Who
 * sends the message on need not check those again that are still the same, and copies their lines. The memory is of the
 * reader's own making, so that it may outlive the turn.
 */
export type CheckedFields = {
  /** As they were received, all of them; never changed. */
  readonly list: readonly string[];
  /** Their lines as text; undefined where they came in another form, as over HTTP/2. */
  readonly lines: FieldLines | undefined;
};

export type FieldLines = {
  /** Holds the lines one behind the other, each as `name: value` with CRLF, one character per octet. */
  readonly text: string;
  /** Where each line begins in the text, and last, where the last one ends. */
  readonly places: readonly number[];
};

/** How many fields in a row may have been taken away before those behind them are checked again. */
const maxSkipped = 16;

/**
 * Finds the fields of a message among those that were received, as long as their order is the same, and returns runs of
 * them as text. For each field in turn: `continues` the run, or else `take` what was found so far, and see whether one
 * `begins` with it; where none does, the field is new or changed, and to be checked.
 */
export class LineCopier {
  private readonly source: CheckedFields | undefined;
  /** The first line of the run, and the one behind it. */
  private begin = 0;
  private end = 0;

  constructor(source: CheckedFields | undefined) {
    this.source = source;
  }

  continues(name: string, value: string): boolean {
    const { source, end } = this;
    if (source === undefined || end === this.begin || !isSame(source.list, end, name, value)) return false;
    this.end = end + 1;
    return true;
  }

  /** The lines of the run, which ends here. */
  take(): string {
    const { source, begin, end } = this;
    if (source === undefined || begin === end) return "";
    this.begin = end;
    const { list, lines } = source;
    if (lines !== undefined) return lines.text.slice(lines.places[begin], lines.places[end]);
    let text = "";
    for (let i = 2 * begin; i < 2 * end; i += 2) text += `${list[i]}: ${list[i + 1]}\r\n`;
    return text;
  }

  begins(name: string, value: string): boolean {
    const { source, end } = this;
    if (source === undefined) return false;
    const last = Math.min(source.list.length / 2, end + maxSkipped);
    for (let line = end; line < last; line++) {
      if (!isSame(source.list, line, name, value)) continue;
      this.begin = line;
      this.end = line + 1;
      return true;
    }
    return false;
  }
}

const isSame = (list: readonly string[], line: number, name: string, value: string): boolean =>
  list[2 * line + 1] === value && list[2 * line] === name;
