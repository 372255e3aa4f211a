/* eslint-disable no-control-regex */

/**
 * Characters that could control a terminal, break a line, or change the order of the displayed text (UAX 9, explicit
 * directions).
 */
const control = /[\0-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]/g;

/**
 * Characters that JSON must escape (controls, quote, backslash, and surrogates, which can be unpaired), and the others
 * in `control`.
 */
const unsafeInJson = /["\\\0-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]/;

/** Whether the JSON form of a string is the string itself in quotes. */
export const isPlainInJson = (text: string): boolean => !unsafeInJson.test(text);

/** Returns a string as JSON. Most strings need no escape and only get quotes. */
export function jsonString(text: string): string {
  return isPlainInJson(text) ? `"${text}"` : plainText(JSON.stringify(text));
}

/**
 * Returns a value as JSON for one line; undefined if it has no JSON form. `JSON.stringify` does not escape DEL, C1
 * controls (such as CSI), line separators and direction overrides, but JSON logs are also read on terminals.
 */
export function jsonText(value: unknown): string | undefined {
  const json = JSON.stringify(value) as string | undefined;
  return json === undefined ? undefined : plainText(json);
}

/** Returns text for one console line, with control characters written as `\u00XX`. */
export function plainText(text: string): string {
  return text.replace(control, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The maximum size of one logged value, in bytes. */
export const maxValueBytes = 8 * 1024;

/** Truncates a text to `maxValueBytes` of UTF-8, never inside a character. */
export function cutToLimit(text: string): string {
  // A UTF-16 unit takes at most three bytes, so most texts need no counting.
  if (text.length * 3 <= maxValueBytes) return text;
  const bytes = Buffer.from(text, "utf8");
  if (bytes.length <= maxValueBytes) return text;
  let end = maxValueBytes;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString("utf8", 0, end);
}
