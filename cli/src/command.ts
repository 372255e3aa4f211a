import type { Flag } from "@svc-gateway/common/settings/flag.ts";

/** What a command reads and writes; nothing else of the process. */
export type Io = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly out: Output;
  readonly err: Output;
  /** Standard input. */
  readonly input: () => AsyncIterable<Uint8Array | string>;
  /** Hands over the signals that ask the process to end. */
  readonly onStopSignal: (handler: (signal: NodeJS.Signals) => void) => () => void;
};

export type Output = {
  write(text: string): void;
  readonly isTerminal: boolean;
  /** Whether the output is a terminal that shows colours. */
  readonly hasColours: boolean;
};

/** 0: success. 1: the answer is "no" (something would not be served). 2: the command failed. */
export type ExitCode = 0 | 1 | 2;

/** A command as the list of commands knows it. */
export type CommandEntry = {
  /** The words that select it: `serve standalone`. */
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** Loads the code, which for most commands takes longer than their work does. */
  load(): Promise<Command>;
};

export type Command = {
  /** All flags, in the order of the help. Parser, help and completion follow from them. */
  readonly flags: readonly Flag[];
  /** What completion offers for the other words: nothing, files and folders, or a few words. */
  readonly words: "none" | "paths" | readonly string[];
  /** The text of `--help`. */
  help(): string;
  /** `argv` is what follows the name. A problem is reported by the caller, on one line, with exit code 2. */
  run(argv: readonly string[], io: Io): Promise<CommandResult>;
};

export type CommandResult =
  | { readonly type: "done"; readonly exitCode: ExitCode }
  /** One line per problem; `isUsage` points to the help of the command. */
  | { readonly type: "refused"; readonly problems: readonly string[]; readonly isUsage: boolean };

export const done = (exitCode: ExitCode): CommandResult => ({ type: "done", exitCode });

export const refused = (...problems: readonly string[]): CommandResult => ({
  type: "refused",
  problems,
  isUsage: false,
});

export const misused = (problem: string): CommandResult => ({
  type: "refused",
  problems: [problem],
  isUsage: true,
});
