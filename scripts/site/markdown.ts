/**
 * Parses links and headings of Markdown pages, as interpreted by GitHub and by the site, which use the same
 * fragments.
 */

/** Matches fenced blocks and inline code, in which nothing is a link. */
const code = /^( *)(```+|~~~+).*?\n\1\2|(`+)(?!`).+?(?<!`)\3(?!`)/gms;
const fenced = /^( *)(```+|~~~+).*?\n\1\2/gms;

/** Matches links and pictures. Their targets cannot contain spaces. */
const link = /(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)/g;

export type Link = { readonly isPicture: boolean; readonly text: string; readonly target: string };

/** Every link of a page, in order; links within code are ignored. */
export const linksOf = (markdown: string): readonly Link[] => {
  const links: Link[] = [];
  replaceLinks(markdown, (found) => {
    links.push(found);
    return "";
  });
  return links;
};

/** The page with its links replaced. */
export function replaceLinks(markdown: string, replacement: (link: Link) => string): string {
  return outsideCode(markdown, fenced, (text) =>
    text.replaceAll(link, (whole, mark: string, label: string, target: string) =>
      isInCode(text, whole) ? whole : replacement({ isPicture: mark === "!", text: label, target }),
    ),
  );
}

/** Applies a change to a page, except within code. */
export const replaceText = (markdown: string, change: (text: string) => string): string =>
  outsideCode(markdown, code, change);

/**
 * Joins inline code that spans lines, because the generator would interpret a line that begins with `<` as an
 * element.
 */
export const joinCode = (markdown: string): string =>
  markdown.replaceAll(code, (block) =>
    /^ *(?:```|~~~)/.test(block) ? block : block.replaceAll(/\n\s*/g, " "),
  );

function outsideCode(markdown: string, kept: RegExp, change: (text: string) => string): string {
  let result = "";
  let end = 0;
  for (const { 0: block, index } of markdown.matchAll(kept)) {
    result += change(markdown.slice(end, index)) + block;
    end = index + block.length;
  }
  return result + change(markdown.slice(end));
}

/** Whether a link is part of inline code, as in `[text](target)`. */
const isInCode = (text: string, whole: string): boolean => text.includes(`\`${whole}\``);

/** The texts of the headings of a page, without marks. */
export const headingsOf = (markdown: string): readonly string[] =>
  [...markdown.replaceAll(fenced, "").matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading.replaceAll(/[`*]/g, "").replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1"),
  );

/** The fragment that GitHub generates for a heading; a repeated one additionally gets a number. */
export const fragmentOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");

/** The fragments of all headings of a page. */
export function fragmentsOf(markdown: string): ReadonlySet<string> {
  const counts = new Map<string, number>();
  return new Set(
    headingsOf(markdown).map((heading) => {
      const fragment = fragmentOf(heading);
      const count = counts.get(fragment) ?? 0;
      counts.set(fragment, count + 1);
      return count === 0 ? fragment : `${fragment}-${count}`;
    }),
  );
}

/** The text of the first heading. */
export const titleOf = (markdown: string): string | undefined => headingsOf(markdown)[0];

/** The first sentence after the first heading, without links; empty if another heading or a list follows. */
export function leadOf(markdown: string): string {
  const paragraph =
    markdown
      .replaceAll(/<!--.*?-->/gs, "")
      .split(/\n{2,}/)
      .map((text) => text.trim())
      .filter((text) => text !== "" && !text.startsWith("# "))[0] ?? "";
  if (/^(?:[-|#>!]|```|\d+\.)/.test(paragraph)) return "";
  const text = paragraph.replaceAll(/\s+/g, " ").replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1");
  return /^.*?[.:](?= |$)/.exec(text)?.[0].replace(/:$/, ".") ?? text;
}
