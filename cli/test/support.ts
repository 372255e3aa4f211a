/** Runs the program: as a process of its own, or inside this one where many command lines are tried. */
import { spawn, type ChildProcessByStdio } from "node:child_process";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { runCommandLine } from "../src/command-line.ts";
import type { Output } from "../src/command.ts";

const program = fileURLToPath(new URL("../src/main.ts", import.meta.url));

/** Nothing of the environment of the test run decides a result. */
const environment: NodeJS.ProcessEnv = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(SVC_|POD_|FORCE_COLOR|NO_COLOR)/.test(name)),
);

export type ProgramOptions = {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** File descriptors that the process may open; those of the test run without. */
  readonly descriptors?: number | undefined;
};

export type Finished = { readonly code: number | null; readonly out: string; readonly err: string };

export function startProgram(
  argv: readonly string[],
  { cwd, env = {}, descriptors }: ProgramOptions = {},
): ChildProcessByStdio<null, Readable, Readable> {
  const command = [process.execPath, program, ...argv];
  const limited = ["sh", "-c", `ulimit -n ${descriptors} && exec "$0" "$@"`, ...command];
  const [file = "", ...args] = descriptors === undefined ? command : limited;
  return spawn(file, args, {
    env: { ...environment, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    ...(cwd === undefined ? {} : { cwd }),
  });
}

/** Runs the program to its end. */
export function runProgram(argv: readonly string[], options?: ProgramOptions): Promise<Finished> {
  const child = startProgram(argv, options);
  let out = "";
  let err = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, out, err }));
  });
}

/** Runs a command line that ends on its own, without a separate process. */
export async function runInside(
  argv: readonly string[],
  { env = {}, input = [] }: Pick<ProgramOptions, "env"> & { readonly input?: readonly string[] } = {},
): Promise<Finished> {
  const texts = { out: "", err: "" };
  const output = (name: keyof typeof texts): Output => ({
    write: (text) => void (texts[name] += text),
    isTerminal: false,
    hasColours: false,
  });
  const io = {
    env,
    out: output("out"),
    err: output("err"),
    input: () => Readable.from(input),
    onStopSignal: () => () => undefined,
  };
  const code = await runCommandLine(argv, io);
  return { code, ...texts };
}
