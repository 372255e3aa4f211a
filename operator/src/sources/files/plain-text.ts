/**
 * The fast path for manifests in the usual form: block maps and lists with scalars on one line each. `js-yaml` reads
 * these in a sixth of the time that `yaml` needs, because it keeps no tokens and no nodes. The result must be the same
 * as that of `yaml` (yaml-text.ts), so `js-yaml` gets only texts of a form in which the two cannot differ, line by
 * line. Any other text, and any text with a finding to report at its position, is read by `yaml`
 * (docs/adr/0041-plain-manifests-by-js-yaml.md).
 */
import { CORE_SCHEMA, load } from "js-yaml";
import type { Position } from "./place.ts";

/** The value of a plain document and the position of its content. */
export type PlainDocument = { readonly value: unknown; readonly position: Position };

/**
 * The largest size of a text that `js-yaml` reads. Longer texts are read by `yaml`, which lets other work run in
 * between.
 */
const maxPlainChars = 65_536;

/** Words, in any case, that YAML 1.1 reads as a value other than text; `yaml` decides which. */
const otherTypes = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"]
  .map((word) => word.replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`))
  .join("|");

const notOtherType = String.raw`(?!(?:${otherTypes}) *(?:[#,\]}:\n]|$))`;

const key = String.raw`${notOtherType}[A-Za-z][\w./-]{0,250}`;

const quoted = String.raw`"[^"\\\x00-\x1f\x7f-\uffff]*"|'[^'\x00-\x1f\x7f-\uffff]*'`;

/** Values with the same type for every reader; an address and a quantity are text. */
const typed = String.raw`true|false|null|0|-?[1-9]\d{0,14}`;
const address = String.raw`\d{1,3}(?:\.\d{1,3}){3}(?:/\d{1,2})?`;
const quantity = String.raw`[1-9]\d{0,14}[A-Za-z]{1,2}`;

/** Text without characters that begin or end something in YAML: a comment, a collection, a key, an alias, a tag. */
const word = String.raw`${notOtherType}[A-Za-z/][\w./@+=*%~^$()<>;?!|&-]*`;
const text = String.raw`${notOtherType}[A-Za-z/](?:[\w./@+=*%~^$()<>;?!|&,"'-]|:(?=[^\s])| (?=[^\s#]))*`;

/** Collections on one line, of scalars alone. */
const scalar = [quoted, address, quantity, typed, word].join("|");
const list = String.raw`\[ ?(?:${scalar})(?:, (?:${scalar}))* ?\]|\[\]`;
const map = String.raw`\{ ?${key}: (?:${scalar})(?:, ${key}: (?:${scalar}))* ?\}|\{\}`;

const value = [quoted, address, quantity, typed, text, list, map].join("|");
const comment = String.raw`#[\x20-\x7e\xa1-\u1fff]*`;

/** An entry of a map, or an item of a list, or both; the value is missing if it follows on separate lines. */
const line = new RegExp(
  String.raw`( {0,60})((?:- {1,3}){0,3})(?:(${key}):(?: +(${value}))?|(${value})) *(?: ${comment})?(?:\n|$)`,
  "y",
);

/** Lines without content. */
const empty = new RegExp(String.raw` {0,250}(?:${comment})?\n`, "y");

/** Reads a plain text. Returns undefined if the text is not plain or not valid, so that `yaml` must read it. */
export function readPlainText(document: string): PlainDocument | undefined {
  const position = document.length > maxPlainChars ? undefined : findPlainContent(document);
  if (position === undefined) return undefined;
  try {
    return { value: load(document, { schema: CORE_SCHEMA }), position };
  } catch {
    return undefined;
  }
}

/** The position of the content of a plain document; undefined if the document is not plain. */
function findPlainContent(document: string): Position | undefined {
  let at = document.startsWith("---\n") ? 4 : 0;
  let lineNumber = at === 0 ? 1 : 2;
  let first: Position | undefined;
  /** The largest indentation of the next line; a deeper line would continue the value of this one. */
  let maxIndent = 0;
  for (; at < document.length; lineNumber++) {
    empty.lastIndex = at;
    if (empty.test(document)) {
      at = empty.lastIndex;
      continue;
    }
    line.lastIndex = at;
    const found = line.exec(document);
    if (found === null) return undefined;
    const [, indent = "", dashes = "", name, ofKey, item] = found;
    if (indent.length > maxIndent && first !== undefined) return undefined;
    if (name === undefined && dashes === "") return undefined;
    first ??= { line: lineNumber, column: indent.length + 1 };
    const isOpen = ofKey === undefined && item === undefined;
    maxIndent = isOpen ? Number.POSITIVE_INFINITY : indent.length + dashes.length;
    at = line.lastIndex;
  }
  return first;
}
