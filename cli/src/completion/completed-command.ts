/** The description of a command for completion scripts, derived from the declarations of its flags. */
import type { Flag } from "@svc-gateway/common/settings/flag.ts";
import type { CommandEntry } from "../command.ts";

/** The completions of a word: these words, the names of files, or none. */
export type Offered = readonly string[] | "paths" | "none";

export type CompletedFlag = {
  /** The spellings of the flag, such as `--output` and `-o`. */
  readonly spellings: readonly string[];
  /** A description of one line. */
  readonly meaning: string;
  readonly offered: Offered;
  /** Whether the value is optional and must follow an equals sign. */
  readonly isSwitch: boolean;
};

export type CompletedCommand = {
  /** The words of the name: one, or two as in `serve standalone`. */
  readonly name: readonly [first: string, second?: string];
  readonly summary: string;
  readonly flags: readonly CompletedFlag[];
  readonly words: Offered;
};

const helpFlag: CompletedFlag = {
  spellings: ["--help", "-h"],
  meaning: "Print the help of the command.",
  offered: "none",
  isSwitch: true,
};

export async function completedCommand(entry: CommandEntry): Promise<CompletedCommand> {
  const { flags, words } = await entry.load();
  const [first = "", second] = entry.name.split(" ");
  return {
    name: second === undefined ? [first] : [first, second],
    summary: entry.summary,
    flags: [...flags.map(completedFlag), helpFlag],
    words,
  };
}

const completedFlag = ({ name, short, type, meaning }: Flag): CompletedFlag => ({
  spellings: short === undefined ? [`--${name}`] : [`--${name}`, `-${short}`],
  meaning: meaning.replaceAll("`", ""),
  offered: type.choices ?? (type.isPath === true ? "paths" : "none"),
  isSwitch: type.isSwitch === true,
});

/** The distinct first words of all commands, with the summary of the command or of its group. */
export const firstWords = (commands: readonly CompletedCommand[]): ReadonlyMap<string, string> =>
  new Map(
    commands.map(({ name: [first, second], summary }) => [
      first,
      second === undefined ? summary : "Serve traffic, or configure proxies.",
    ]),
  );

/** The commands of two words that begin with this one. */
export const secondWords = (
  commands: readonly CompletedCommand[],
  word: string,
): readonly CompletedCommand[] => commands.filter(({ name }) => name[0] === word && name[1] !== undefined);

/** Quotes a word literally for a shell. For the words of declarations, single quotes suffice in bash and zsh. */
export const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
