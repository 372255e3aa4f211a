/** Finds mistakes in the commands of pages, as far as that is possible without running them. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { expandShort } from "../../cli/src/command-flags.ts";
import { commands } from "../../cli/src/command-line.ts";
import { splitArguments } from "../../common/src/settings/arguments.ts";
import type { ShellCommand } from "./shell.ts";

const root = resolve(import.meta.dirname, "../..");

/** Programs whose flags `make e2e` verifies with the real kubectl and helm (e2e/features/commands.test.ts). */
export const askedOnCluster: ReadonlySet<string> = new Set(["kubectl", "helm"]);

/** Well-known programs, which appear after a pipe and between other commands. */
const everywhere = new Set(["awk", "cat", "grep", "head", "jq", "ls", "tail", "paste", "cd", "mkdir"]);

const checks: Readonly<Record<string, (words: readonly string[]) => Promise<string | undefined>>> = {
  "svc-gateway": mistakeOfGateway,
  "dist/svc-gateway": mistakeOfGateway,
  make: async (words) => Promise.resolve(mistakeOfRun("make", ["--dry-run", ...words])),
  curl: async (words) => Promise.resolve(mistakeOfCurl(words)),
  "scripts/node": async ([file = ""]) =>
    Promise.resolve(existsSync(join(root, file)) ? undefined : `${file} does not exist`),
  "e2e/cluster/provider": async ([command = ""]) =>
    Promise.resolve(command === "" ? "expected a command" : undefined),
};

/** Whether the mistakes of a program's commands can be found at all. */
export const isKnown = ([program = ""]: ShellCommand): boolean =>
  program in checks || askedOnCluster.has(program) || everywhere.has(program);

/** The mistake in a command; undefined if there is none, or if the program is not known. */
export const mistakeOfCommand = async ([program = "", ...words]: ShellCommand): Promise<string | undefined> =>
  checks[program]?.(words);

async function mistakeOfGateway(words: readonly string[]): Promise<string | undefined> {
  const entry = commands.find(({ name }) => name.split(" ").every((word, index) => words[index] === word));
  if (entry === undefined) return `${words.slice(0, 2).join(" ")}: no such command`;
  const { flags } = await entry.load();
  const rest = words.slice(entry.name.split(" ").length).filter((word) => word !== "--help");
  const split = splitArguments(flags, expandShort(flags, rest));
  if (!split.ok) return split.error.message;
  for (const [name, text] of split.value.texts) {
    const read = flags.find((flag) => flag.name === name)?.type.parse(text);
    if (read?.ok === false)
      return `--${name}=${text}: ${String((read.error as { message?: unknown }).message)}`;
  }
  return undefined;
}

function mistakeOfRun(program: string, words: readonly string[]): string | undefined {
  const { status, stderr } = spawnSync(program, words, { cwd: root, encoding: "utf8" });
  return status === 0 ? undefined : stderr.trim();
}

/** curl parses all of its options before it connects. A URL with an unknown scheme makes it exit at that point. */
function mistakeOfCurl(words: readonly string[]): string | undefined {
  const { stderr } = spawnSync("curl", [...words.filter((word) => !/^https?:/.test(word)), "none://x"], {
    encoding: "utf8",
    env: {},
  });
  return /option .*(?:is unknown|requires parameter|is ambiguous)|expected a proper/.exec(stderr)?.[0];
}
