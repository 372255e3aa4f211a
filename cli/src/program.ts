/** Runs the command line of this process. */
import { runCommandLine } from "./command-line.ts";
import type { Io, Output } from "./command.ts";
import { lastOutput } from "./last-output.ts";

const stopSignals = ["SIGTERM", "SIGINT"] as const;

const outputTo = (stream: NodeJS.WriteStream): Output => {
  // A reader such as `head` can close the pipe early, which is not an error.
  stream.on("error", () => undefined);
  return {
    write: (text) => void stream.write(text),
    isTerminal: stream.isTTY,
    hasColours: stream.isTTY && stream.hasColors(),
  };
};

/** Whether the command serves. Only such commands wait for a stop signal. */
let isServing = false;

const io: Io = {
  env: process.env,
  out: outputTo(process.stdout),
  err: outputTo(process.stderr),
  input: () => process.stdin,
  onStopSignal: (handler) => {
    isServing = true;
    for (const signal of stopSignals) process.on(signal, handler);
    return () => {
      for (const signal of stopSignals) process.off(signal, handler);
    };
  },
};

/** How long the readers of a serving process may take to read its last output, in milliseconds. */
const maxWriteMs = 5000;

const exitCode = await runCommandLine(process.argv.slice(2), io);
const limitMs = isServing ? maxWriteMs : undefined;
await Promise.all([process.stdout, process.stderr].map((stream) => lastOutput(stream, limitMs)));
// The process exits explicitly, since Node.js waits for open handles: gRPC cannot abandon a connection attempt to an
// address that drops packets, and a proxy would stay until its pod is killed.
process.exit(exitCode);
