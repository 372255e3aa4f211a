/** What a script of a shell needs to know of a command; it follows from the declarations of the flags. */
import type { Flag } from "@svc-gateway/common/settings/flag.ts";
import type { CommandEntry } from "../command.ts";

/** What can follow: words, the names of files, or a text that is not known. */
export type Offered = readonly string[] | "paths" | "none";

export type CompletedFlag = {
  /** As they are written: `--output`, `-o`. */
  readonly spellings: readonly string[];
  /** One line. */
  readonly meaning: string;
  readonly offered: Offered;
  /** The value needs an equals sign, and may be left out. */
  readonly isSwitch: boolean;
};

export type CompletedCommand = {
  /** Its words: one, or two of `serve standalone`. */
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

/** The first words of all commands, each once, with its summary where it is a command. */
export const firstWords = (commands: readonly CompletedCommand[]): ReadonlyMap<string, string> =>
  new Map(
    commands.map(({ name: [first, second], summary }) => [
      first,
      second === undefined ? summary : "Serve traffic, or configure proxies.",
    ]),
  );

/** The commands of two words, by the first. */
export const secondWords = (
  commands: readonly CompletedCommand[],
  word: string,
): readonly CompletedCommand[] => commands.filter(({ name }) => name[0] === word && name[1] !== undefined);

/** A word of a shell that means itself. Words of declarations have no quotes in bash and zsh that need more. */
export const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
