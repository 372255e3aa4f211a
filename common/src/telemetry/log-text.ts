/* eslint-disable no-control-regex */

/** What could steer a terminal, break a line, or show its text in another order than it has (UAX 9, explicit directions). */
const control = /[\0-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]/g;

/** What JSON must escape (controls, quote, backslash, and surrogates, which may be unpaired), and the other `control`s. */
const unsafeInJson = /["\\\0-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]/;

/** Whether a string in JSON is itself between quotes. */
export const isPlainInJson = (text: string): boolean => !unsafeInJson.test(text);

/** A string as JSON. Most strings need no escape and only get their quotes. */
export function jsonString(text: string): string {
  return isPlainInJson(text) ? `"${text}"` : plainText(JSON.stringify(text));
}

/**
 * A value as JSON for one line; undefined where JSON has no such value. `JSON.stringify` leaves DEL, C1 controls (CSI is one
 * of them), separators of lines and overrides of direction as they are, and a JSON log is read on terminals, too.
 */
export function jsonText(value: unknown): string | undefined {
  const json = JSON.stringify(value) as string | undefined;
  return json === undefined ? undefined : plainText(json);
}

/** Text for one console line: control characters are written as `\u00XX`. */
export function plainText(text: string): string {
  return text.replace(control, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The most bytes of one logged value. */
export const maxValueBytes = 8 * 1024;

/** Cuts a text to `maxValueBytes` of UTF-8, never inside a character. */
export function cutToLimit(text: string): string {
  // A UTF-16 unit takes at most three bytes, so most texts need no counting.
  if (text.length * 3 <= maxValueBytes) return text;
  const bytes = Buffer.from(text, "utf8");
  if (bytes.length <= maxValueBytes) return text;
  let end = maxValueBytes;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString("utf8", 0, end);
}
