/**
 * Reads documents that are written as nearly all manifests are: block maps and lists, scalars on one line, literal text.
 * That takes some percent of the time of the YAML parser, which reads all other documents, and those with findings, whose
 * places only it knows (ADR 38). What is read here has the value that the parser and `convert.ts` give it; when in doubt,
 * it is left to them.
 */
import type { Position } from "./place.ts";
import { readBrackets } from "./plain-brackets.ts";
import { isPlainKey, readPlainScalar } from "./plain-scalar.ts";

/** The value of a document, and where it begins. */
export type PlainDocument = { readonly value: Readonly<Record<string, unknown>>; readonly start: Position };

/** Longer documents are read by the parser, which lets other work of the process run in between. */
const maxLength = 256 * 1024;
/** Well below what the parser accepts. */
const maxDepth = 64;

/** Tabs, carriage returns and everything that is not ASCII may have a meaning of its own. */
const unusual = /[^\n -~]/;
const key = /^(?:([A-Za-z][\w./-]*)|"([\w./-]+)"|'([\w./-]+)'):(?: +|$)/;
/** Longer keys may be longer than YAML allows. */
const maxKeyLength = 500;
const literal = /^\|-?$/;
const onlySpaces = /^ *$/;

/** Undefined: not a document of this kind. */
export function readPlainDocument(text: string): PlainDocument | undefined {
  if (text.length > maxLength || unusual.test(text)) return undefined;
  const reader = new PlainReader(text.split("\n"));
  return reader.readDocument();
}

class PlainReader {
  readonly #lines: readonly string[];
  /** The line that is read next, its indentation, and what is written on it; the indentation is -1 at the end. */
  #at = -1;
  #indent = -1;
  #content = "";
  #depth = 0;
  #isPlain = true;

  constructor(lines: readonly string[]) {
    this.#lines = lines;
  }

  readDocument(): PlainDocument | undefined {
    this.#next();
    if (this.#indent === 0 && this.#content === "---") this.#next();
    const start = { line: this.#at + 1, column: 1 };
    if (this.#indent !== 0) return undefined;
    const value = this.#readMap(this.#indent);
    return this.#isPlain && this.#at === this.#lines.length ? { value, start } : undefined;
  }

  /** Goes to the next line with content. */
  #next(): void {
    for (let at = this.#at + 1; at < this.#lines.length; at++) {
      const line = this.#lines[at] ?? "";
      let indent = 0;
      while (line.charCodeAt(indent) === 0x20) indent++;
      if (indent === line.length || line.charCodeAt(indent) === 0x23) continue;
      this.#at = at;
      this.#indent = indent;
      this.#content = line.slice(indent).trimEnd();
      return;
    }
    this.#at = this.#lines.length;
    this.#indent = -1;
    this.#content = "";
  }

  #refuse(): undefined {
    this.#isPlain = false;
    return undefined;
  }

  /** The map whose keys have this indentation, from the current line on. */
  #readMap(indent: number): Record<string, unknown> {
    const map: Record<string, unknown> = {};
    if (++this.#depth > maxDepth) this.#refuse();
    while (this.#isPlain && this.#indent === indent) {
      const matched = key.exec(this.#content);
      const name = matched?.[1] ?? matched?.[2] ?? matched?.[3];
      if (matched === null || name === undefined) {
        this.#refuse();
        break;
      }
      if (!isPlainKey(name) || name.length > maxKeyLength || Object.hasOwn(map, name)) this.#refuse();
      map[name] = this.#readValue(this.#content.slice(matched[0].length), indent, true);
    }
    if (this.#indent > indent) this.#refuse();
    this.#depth--;
    return map;
  }

  /** The list whose dashes have this indentation, from the current line on. */
  #readList(indent: number): unknown[] {
    const list: unknown[] = [];
    if (++this.#depth > maxDepth) this.#refuse();
    while (this.#isPlain && this.#indent === indent && isItem(this.#content)) {
      const rest = this.#content.slice(1).trimStart();
      if (!key.test(rest)) {
        list.push(isItem(rest) ? this.#refuse() : this.#readValue(rest, indent, false));
        continue;
      }
      // The map begins behind the dash, as if it were on a line of its own.
      this.#indent = indent + this.#content.length - rest.length;
      this.#content = rest;
      list.push(this.#readMap(this.#indent));
    }
    if (this.#indent > indent) this.#refuse();
    this.#depth--;
    return list;
  }

  /** What follows a key or dash of this indentation, and everything that belongs to it. */
  #readValue(written: string, indent: number, ofKey: boolean): unknown {
    const rest = withoutComment(written);
    if (literal.test(rest)) return this.#readLiteral(rest, indent);
    this.#next();
    if (rest === "") {
      if (this.#indent > indent)
        return isItem(this.#content) ? this.#readList(this.#indent) : this.#readMap(this.#indent);
      if (ofKey && this.#indent === indent && isItem(this.#content)) return this.#readList(indent);
      return null;
    }
    // Text may go on in the next line.
    if (this.#indent > indent) return this.#refuse();
    const first = rest.charCodeAt(0);
    const value = first === 0x5b || first === 0x7b ? readBrackets(rest) : readPlainScalar(rest);
    return value ?? this.#refuse();
  }

  /** Text after `|` or `|-`, which begins in the next line. */
  #readLiteral(header: string, indent: number): string | undefined {
    const first = this.#lines[this.#at + 1] ?? "";
    const margin = /^ */.exec(first)?.[0] ?? "";
    if (margin.length <= indent || this.#lines.at(-1) !== "") return this.#refuse();
    const text: string[] = [];
    // What follows the last line break is no line.
    const end = this.#lines.length - 1;
    let at = this.#at + 1;
    for (; at < end; at++) {
      const line = this.#lines[at] ?? "";
      if (line !== "" && !line.startsWith(margin)) break;
      if (line !== "" && onlySpaces.test(line)) return this.#refuse();
      text.push(line.slice(margin.length));
    }
    this.#at = at - 1;
    this.#next();
    if (at !== end && (this.#at !== at || this.#indent > indent)) return this.#refuse();
    while (text.at(-1) === "") text.pop();
    return text.join("\n") + (header === "|" ? "\n" : "");
  }
}

const isItem = (content: string): boolean => content === "-" || content.startsWith("- ");

/** A comment begins at a `#` after a space, but not within quotes: with both, the text is left as it is, and is no scalar. */
function withoutComment(text: string): string {
  const at = text.charCodeAt(0) === 0x23 ? 0 : text.indexOf(" #");
  if (at === -1) return text;
  const before = text.slice(0, at);
  const quote = before.charAt(0);
  if ((quote === '"' || quote === "'") && !(before.length > 1 && before.trimEnd().endsWith(quote)))
    return text;
  return before.trimEnd();
}
