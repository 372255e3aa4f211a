/**
 * The code blocks of pages (docs/style.md, "Blocks"). The info string of a block describes its content, and
 * `skip="…"` gives the reason why it is not tested: ```yaml skip="needs a load balancer of a cloud".
 */

export type Block = {
  /** The path relative to the work tree. */
  readonly page: string;
  /** The line of the opening fence, counted from 1. */
  readonly line: number;
  /** The first word of the info string; empty without one. */
  readonly language: string;
  /** The other words of the info string: `name="value"`, or only a name, with an empty value. */
  readonly options: ReadonlyMap<string, string>;
  readonly text: string;
};

/** The fenced blocks of a page in order. Blocks in lists lose the indentation of their fence. */
export function blocksOf(page: string, markdown: string): readonly Block[] {
  return [...markdown.matchAll(/^( *)```([^\n]*)\n(.*?)^ *```$/gms)].map(
    ({ index, 1: indentation = "", 2: info = "", 3: text = "" }) => ({
      page,
      line: markdown.slice(0, index).split("\n").length,
      ...readInfo(info),
      text: text.replaceAll(new RegExp(`^${indentation}`, "gm"), ""),
    }),
  );
}

function readInfo(info: string): Pick<Block, "language" | "options"> {
  const [language = "", ...rest] = info.trim().split(" ");
  const options = [...rest.join(" ").matchAll(/([a-z-]+)(?:="([^"]*)")?/g)].map(
    ([, name = "", value = ""]) => [name, value] as const,
  );
  return { language, options: new Map(options) };
}
