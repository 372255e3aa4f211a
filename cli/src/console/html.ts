/* eslint-disable no-control-regex */

/** Markup. Only instances of this class are written unescaped; everything else is text. */
export class Html {
  readonly markup: string;

  constructor(markup: string) {
    this.markup = markup;
  }
}

/** A value in a template: text is escaped, lists are joined, `undefined` and `false` are omitted. */
export type Part = Html | string | number | undefined | false | readonly Part[];

const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
  "`": "&#96;",
};

/** Control characters, and invisible or direction-changing marks: a name must not look like another one. */
const invisible =
  /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]/gu;

/** Escapes text for markup and for quoted attribute values. */
export const escapeHtml = (text: string): string =>
  text
    .replace(invisible, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`)
    .replace(/[&<>"'`]/g, (char) => escapes[char] ?? "");

const render = (part: Part): string => {
  if (part === undefined || part === false) return "";
  if (part instanceof Html) return part.markup;
  if (typeof part === "string") return escapeHtml(part);
  return typeof part === "number" ? String(part) : part.map(render).join("");
};

/** A template of markup: html`<b>${name}</b>`. Attribute values must be in double quotes. */
export const html = (strings: TemplateStringsArray, ...parts: readonly Part[]): Html =>
  new Html(strings.reduce((markup, text, index) => markup + render(parts[index - 1]) + text));
