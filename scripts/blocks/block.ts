/**
 * The code blocks of pages (docs/style.md, "Blocks"). The info string of each says what it is, and `skip="…"` why it is not
 * tried: ```yaml skip="needs a load balancer of a cloud".
 */

export type Block = {
  /** Relative to the work tree. */
  readonly page: string;
  /** Of its fence, from 1. */
  readonly line: number;
  /** The first word of the info string; empty without one. */
  readonly language: string;
  /** What follows in the info string: `name="value"`, or a name alone, whose value is then empty. */
  readonly options: ReadonlyMap<string, string>;
  readonly text: string;
};

/** The fenced blocks of a page in their order; those in lists without the indentation of their fence. */
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
