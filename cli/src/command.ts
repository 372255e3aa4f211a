import type { Flag } from "@svc-gateway/common/settings/flag.ts";

/** The inputs and outputs of a command, which uses nothing else of the process. */
export type Io = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly out: Output;
  readonly err: Output;
  /** Returns the standard input. */
  readonly input: () => AsyncIterable<Uint8Array | string>;
  /** Calls the handler for signals that request the process to end. Returns a function that unsubscribes. */
  readonly onStopSignal: (handler: (signal: NodeJS.Signals) => void) => () => void;
};

export type Output = {
  write(text: string): void;
  readonly isTerminal: boolean;
  /** Whether the output is a terminal that shows colours. */
  readonly hasColours: boolean;
};

/** The exit code. 0: success. 1: the answer is "no", such as something that is not served. 2: the command failed. */
export type ExitCode = 0 | 1 | 2;

/** An entry in the list of commands. */
export type CommandEntry = {
  /** The words that select the command, such as `serve standalone`. */
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** Loads the code, which for most commands takes longer than running it. */
  load(): Promise<Command>;
};

export type Command = {
  /** All flags, in the order of the help. Parser, help and completion are derived from them. */
  readonly flags: readonly Flag[];
  /** The completions for positional words: none, files and folders, or these words. */
  readonly words: "none" | "paths" | readonly string[];
  /** The text of `--help`. */
  help(): string;
  /** Runs the command; `argv` has the arguments after its name. The caller prints problems and exits with code 2. */
  run(argv: readonly string[], io: Io): Promise<CommandResult>;
};

export type CommandResult =
  | { readonly type: "done"; readonly exitCode: ExitCode }
  /** A failure, with one line per problem; with `isUsage` they refer to the help of the command. */
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
