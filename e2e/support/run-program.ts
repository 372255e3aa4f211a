import { spawn, type ChildProcess } from "node:child_process";

export type Ran = { readonly status: number; readonly stdout: string; readonly stderr: string };

export type RunOptions = {
  /** Text for the standard input. */
  readonly input?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Whether the output is also shown while it arrives. */
  readonly isShown?: boolean;
  /** Called with each part of the standard output as it arrives. */
  readonly onOutput?: (text: string) => void;
  /** The time in milliseconds after which the program is ended; 120 s by default. */
  readonly timeoutMs?: number;
};

const defaultTimeoutMs = 120_000;

const running = new Set<ChildProcess>();

/** Forwards a signal to every running program that `run` has started. */
export function signalPrograms(signal: NodeJS.Signals): void {
  for (const child of running) child.kill(signal);
}

/** Runs a program to its end. A program that cannot be started has status 127. */
export function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  return new Promise((settle) => {
    const child = spawn(command, args, {
      env: { ...process.env, ...options.env },
      stdio: ["pipe", "pipe", "pipe"],
      timeout: options.timeoutMs ?? defaultTimeoutMs,
      killSignal: "SIGKILL",
    });
    running.add(child);
    const output = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const) {
      child[name].setEncoding("utf8").on("data", (text: string) => {
        output[name] += text;
        if (options.isShown === true) process[name].write(text);
      });
    }
    if (options.onOutput !== undefined) child.stdout.on("data", options.onOutput);
    child.stdin.on("error", () => undefined);
    child.stdin.end(options.input ?? "");
    child.once("error", (error) => {
      running.delete(child);
      settle({ status: 127, stdout: "", stderr: error.message });
    });
    child.once("close", (code, signal) => {
      running.delete(child);
      if (signal !== null) output.stderr += `\nended by ${signal}`;
      settle({ status: code ?? 1, ...output });
    });
  });
}

/** Like `run`, for programs that must succeed: returns their output, or throws with their error output. */
export async function mustRun(
  command: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<string> {
  const { status, stdout, stderr } = await run(command, args, options);
  if (status === 0) return stdout;
  const said = options.isShown === true ? "" : `:\n${stderr.trim() || stdout.trim()}`;
  throw new Error(`${[command, ...args].join(" ").slice(0, 400)} exited with ${status}${said}`);
}
