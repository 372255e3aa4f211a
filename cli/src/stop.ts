import type { Io } from "./command.ts";

export type Stop = {
  readonly signal: NodeJS.Signals;
  /** Aborted by the second signal: unfinished work is cut off. */
  readonly hurry: AbortSignal;
};

/** Resolves at the first signal that asks the process to end. */
export function waitForStop(io: Pick<Io, "onStopSignal">): Promise<Stop> {
  const hurry = new AbortController();
  return new Promise((resolve) => {
    let isStopping = false;
    io.onStopSignal((signal) => {
      if (isStopping) hurry.abort();
      isStopping = true;
      resolve({ signal, hurry: hurry.signal });
    });
  });
}
