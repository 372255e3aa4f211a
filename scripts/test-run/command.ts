import { spawn } from "node:child_process";

export type Outcome = {
  /** The exit code; also 1 when the program cannot be started or is killed by a signal. */
  readonly status: number;
  /** The output of the program and of the programs that it started, including errors. */
  readonly output: string;
};

type Options = {
  readonly env?: NodeJS.ProcessEnv;
  /** The maximum time that it may take; none by default. */
  readonly limitMs?: number | undefined;
  /** Whether the program has written its result, and only has to exit. */
  readonly hasResult?: () => boolean;
  /**
   * The time in which it must exit after that; otherwise it has leaked a socket, a timer or a process. Node.js writes
   * its coverage in this time, which is slow on a machine with other load.
   */
  readonly lingerMs?: number;
};

/**
 * Runs a program. It is killed, with all programs that it started, at its limit, and when it has its result but does
 * not exit in time.
 */
export function runCommand(
  [program = "", ...args]: readonly string[],
  { env, limitMs, hasResult, lingerMs = 120_000 }: Options = {},
): Promise<Outcome> {
  return new Promise((settle) => {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], detached: true, env });
    let output = "";
    // With pipes, "close" also waits for programs that this one has left running.
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => void (output += text));
    }
    const forward = (signal: NodeJS.Signals): void => endGroup(child.pid, signal);
    process.once("SIGINT", forward).once("SIGTERM", forward);
    const kill = (reason: string): void => {
      output += `\n${reason}\n`;
      endGroup(child.pid, "SIGKILL");
    };
    const limit =
      limitMs === undefined
        ? undefined
        : setTimeout(() => kill(`It has not ended within ${limitMs / 60_000} min, and was killed.`), limitMs);
    let linger: NodeJS.Timeout | undefined;
    const look = setInterval(() => {
      if (hasResult?.() !== true) return;
      clearInterval(look);
      const reason = "The tests have ended, but a socket, timer or process that they started is still open.";
      linger = setTimeout(() => kill(reason), lingerMs);
    }, 1000);
    const end = (status: number): void => {
      clearInterval(look);
      clearTimeout(limit);
      clearTimeout(linger);
      process.off("SIGINT", forward).off("SIGTERM", forward);
      settle({ status, output });
    };
    child.once("error", (error) => {
      output += `${program} cannot be started: ${error.message}\n`;
      end(1);
    });
    child.once("close", (code) => end(code ?? 1));
  });
}

function endGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // The whole group has ended in the meantime.
  }
}
