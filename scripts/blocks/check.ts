/**
 * Finds mistakes in the blocks of pages. Every block is tested as far as its language allows, or gives a reason to be
 * skipped.
 */
import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { textOf } from "../../common/src/values/errors.ts";
import { blocksOf, type Block } from "./block.ts";
import { isKnown, mistakeOfCommand } from "./commands.ts";
import { mistakesOfMetrics } from "./metrics.ts";
import { commandsOf, type ShellCommand } from "./shell.ts";
import { mistakesOfYaml } from "./yaml.ts";

const root = resolve(import.meta.dirname, "../..");

/** Every page with blocks that are tested here; examples.test.ts runs those of the examples. */
export const pages: readonly string[] = [
  "README.md",
  "CONTRIBUTING.md",
  "config/chart/README.md",
  "config/examples/README.md",
  ...globSync("docs/**/*.md", { cwd: root }).sort(),
];

export const blocksOfPage = (page: string): readonly Block[] =>
  blocksOf(page, readFileSync(join(root, page), "utf8"));

/** The commands of a block: all lines of `sh`, and those after `$ ` of `console`. */
export function commandsOfBlock({ language, text }: Block): readonly ShellCommand[] {
  if (language === "sh") return commandsOf(text);
  if (language !== "console") return [];
  return text.split("\n").flatMap((line) => (line.startsWith("$ ") ? commandsOf(line.slice(2)) : []));
}

type Check = (block: Block) => readonly string[] | Promise<readonly string[]>;

const checks: Readonly<Record<string, Check>> = {
  yaml: mistakesOfYaml,
  json: ({ text }) => mistakeOf(() => JSON.parse(text)),
  sh: mistakesOfCommands,
  console: mistakesOfCommands,
  promql: mistakesOfMetrics,
  // Diagrams, which the pages of the site display.
  mermaid: () => [],
  text: ({ text }) =>
    text
      .split("\n")
      .filter((line) => /^\s*(?:\$ |(?:svc-gateway|kubectl|helm|curl|make) )/.test(line))
      .map((line) => `"${line.trim()}" is a command, expected sh or console instead of text`),
};

/** The least number of words of a reason. */
const minWords = 3;

/** One line for each mistake, with its page and line. */
export async function mistakesOfBlock(block: Block): Promise<readonly string[]> {
  const mistakes = await mistakesWithSkip(block);
  return mistakes.map((mistake) => `${block.page}:${String(block.line)}: ${mistake}`);
}

async function mistakesWithSkip(block: Block): Promise<readonly string[]> {
  const check = checks[block.language];
  if (check === undefined)
    return [`language "${block.language}", expected one of ${Object.keys(checks).join(", ")}`];
  const mistakes = await check(block);
  const reason = block.options.get("skip");
  if (reason === undefined) return mistakes;
  if (reason.split(" ").length < minWords)
    return [`skip="${reason}", expected a reason of ${String(minWords)} words`];
  return mistakes.length > 0 ? [] : [`skip="${reason}" is not needed: the block is right as it is`];
}

async function mistakesOfCommands(block: Block): Promise<readonly string[]> {
  const commands = commandsOfBlock(block);
  if (commands.length === 0) return [`no command, expected ${block.language} to have one`];
  const mistakes = await Promise.all(
    commands.map(async (command) =>
      isKnown(command)
        ? await mistakeOfCommand(command)
        : `${String(command[0])} is a program whose commands are not tried, expected skip="<reason>"`,
    ),
  );
  return mistakes.filter((mistake) => mistake !== undefined);
}

function mistakeOf(attempt: () => unknown): readonly string[] {
  try {
    attempt();
    return [];
  } catch (error) {
    return [textOf(error)];
  }
}
