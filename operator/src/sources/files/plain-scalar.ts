/**
 * Scalars of YAML 1.1 that are read without a parser: those whose value is plain from how they are written. Everything else
 * (escapes beyond those of JSON, other numbers, words that stand for booleans or null, anchors, tags …) is undefined here.
 */

/** A scalar; undefined is not one of these, null is an empty one. */
export type PlainScalar = string | number | boolean | null;

/** `"text"` with escapes that JSON has too, or `'text'`, in which a quote is written twice. */
const doubleQuoted = /^"(?:[^"\\]|\\["\\/bfnrt])*"$/;
const singleQuoted = /^'(?:[^']|'')*'$/;
/** No number begins with a letter or slash. `: ` and ` #` end a plain scalar. */
const word = /^[A-Za-z/](?:[^:#]|:(?! |$))*$/;
const integer = /^(?:0|-?[1-9]\d{0,14})$/;
/** What begins with a digit and is no number in any notation, such as `8m`, `30s`, `10.0.0.0/8` and `10.0.0.1`. */
const digitsAndMore = /^\d[\d.]*(?:[g-np-wyzG-NP-WYZ/][\w./-]*|\.\d+\.\d+)$/;
/** Words that YAML 1.1 reads as a boolean or as null. */
const reserved = /^(?:y|n|yes|no|on|off|true|false|null)$/i;

/** The value of a scalar on one line, without white space or comment around it. */
export function readPlainScalar(text: string): PlainScalar | undefined {
  switch (text.charCodeAt(0)) {
    case 0x22:
      if (!doubleQuoted.test(text)) return undefined;
      return text.includes("\\") ? (JSON.parse(text) as string) : text.slice(1, -1);
    case 0x27:
      return singleQuoted.test(text) ? text.slice(1, -1).replaceAll("''", "'") : undefined;
  }
  if (word.test(text)) {
    if (!reserved.test(text)) return text;
    return text === "true" ? true : text === "false" ? false : undefined;
  }
  if (integer.test(text)) return Number(text);
  return digitsAndMore.test(text) ? text : undefined;
}

/** Whether a key of letters is text for sure, and a usual name of an object's field. */
export const isPlainKey = (name: string): boolean => !/^(?:null|__proto__)$/i.test(name);
