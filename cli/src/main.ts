/** The program `svc-gateway`. */
import { runCommandLine } from "./command-line.ts";
import type { Io, Output } from "./command.ts";

const stopSignals = ["SIGTERM", "SIGINT"] as const;

const outputTo = (stream: NodeJS.WriteStream): Output => {
  // A reader such as `head` may leave early; what it did not want is not an error.
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

const written = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => stream.write("", () => resolve()));

const exitCode = await runCommandLine(process.argv.slice(2), io);
await Promise.all([written(process.stdout), written(process.stderr)]);
// Not left to Node.js, which waits for everything that is open: gRPC cannot give up a connection to an address that
// swallows packets, and a proxy would stay, for nothing, until its pod is killed.
process.exit(exitCode);
