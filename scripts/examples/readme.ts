/**
 * The requests in the README of an example. `console` blocks contain commands, each after `$ `, and the lines that
 * they print. `…` in a line matches any text, and as a whole line any number of lines (config/examples/README.md).
 */

export type ExampleRequest = {
  readonly command: string;
  /** The lines of the output, as written in the README. */
  readonly answer: readonly string[];
};

/** The requests of a README, in order. Lines of a block before its first command are ignored. */
export function requestsOf(markdown: string): readonly ExampleRequest[] {
  return [...markdown.matchAll(/^```console\n(.*?)^```$/gms)].flatMap(([, block = ""]) =>
    requestsOfBlock(block),
  );
}

/** The requests in the text of one block. */
export const requestsOfBlock = (block: string): readonly ExampleRequest[] =>
  block
    .split(/^\$ /m)
    .slice(1)
    .map((text): ExampleRequest => {
      const [command = "", ...answer] = text.trimEnd().split("\n");
      return { command, answer };
    });

/** Whether the output of a program matches the README. Spaces at the end of a line and of the output are ignored. */
export function isAnswer(answer: readonly string[], output: string): boolean {
  const pattern = answer
    .map((line) => (line === "…" ? "(?:.*\\n)*?" : `${line.split("…").map(escaped).join(".*")}\\n`))
    .join("");
  const text = output.trimEnd();
  const lines = text === "" ? [] : text.split("\n");
  return new RegExp(`^${pattern}$`).test(lines.map((line) => `${line.trimEnd()}\n`).join(""));
}

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
