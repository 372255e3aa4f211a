/**
 * Inserts SVG pictures into their page, so that they follow its light and dark theme and their text can be found. As
 * separate files, such as on GitHub, they follow the reader's system (scripts/pictures).
 */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

type Token = { readonly content: string; attrGet(name: string): string | null };
type Rule = (
  tokens: readonly Token[],
  index: number,
  options: unknown,
  environment: { readonly path?: string },
  self: unknown,
) => string;
type MarkdownIt = { readonly renderer: { readonly rules: { image?: Rule } } };

/** Changes how a Markdown renderer outputs pictures. */
export function inlinePictures({ renderer: { rules } }: MarkdownIt, pages: string): void {
  const others = rules.image;
  rules.image = (tokens, index, options, environment, self) => {
    const source = tokens[index]?.attrGet("src") ?? "";
    if (!source.endsWith(".svg")) return others?.(tokens, index, options, environment, self) ?? "";
    const file = join(dirname(environment.path ?? join(pages, "index.md")), source);
    return `<span class="picture" v-pre>${withoutStyle(readFileSync(file, "utf8"))}</span>`;
  };
}

/** Removes the style of a picture: the site has the colours itself, and a page must not contain styles. */
const withoutStyle = (svg: string): string =>
  svg
    .replace(/<\?xml.*?\?>/s, "")
    .replaceAll(/<!--.*?-->/gs, "")
    .replaceAll(/<style>.*?<\/style>/gs, "")
    .replaceAll(/>\s+</g, "><")
    .trim();
