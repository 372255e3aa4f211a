/** The program `svc-gateway`. */
import { runCommandLine } from "./command-line.ts";
import type { Io, Output } from "./command.ts";

const stopSignals = ["SIGTERM", "SIGINT"] as const;

const outputTo = (stream: NodeJS.WriteStream): Output => {
  // A reader such as `head` may close the pipe early, which is no error.
  stream.on("error", () => undefined);
  return {
    write: (text) => void stream.write(text),
    hasColours: stream.isTTY && stream.hasColors(),
  };
};

const io: Io = {
  env: process.env,
  out: outputTo(process.stdout),
  err: outputTo(process.stderr),
  input: () => process.stdin,
  onStopSignal: (handler) => {
    for (const signal of stopSignals) process.on(signal, handler);
    return () => {
      for (const signal of stopSignals) process.off(signal, handler);
    };
  },
};

/** How long a reader may take to read the last output, in milliseconds; one that reads nothing must not keep the process. */
const maxWriteMs = 5000;

const written = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => {
    const limit = setTimeout(resolve, maxWriteMs);
    stream.write("", () => {
      clearTimeout(limit);
      resolve();
    });
  });

const exitCode = await runCommandLine(process.argv.slice(2), io);
await Promise.all([written(process.stdout), written(process.stderr)]);
// The process exits explicitly, since Node.js waits for open handles: gRPC cannot abandon a connection attempt to an
// address that drops packets, and a proxy would stay until its pod is killed.
process.exit(exitCode);
