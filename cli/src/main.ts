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
  onStopSignal: (handler) => {
    for (const signal of stopSignals) process.on(signal, handler);
    return () => {
      for (const signal of stopSignals) process.off(signal, handler);
    };
  },
};

process.exitCode = await runCommandLine(process.argv.slice(2), io);
