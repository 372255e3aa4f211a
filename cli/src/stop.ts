import type { Io } from "./command.ts";

export type Stop = {
  readonly signal: NodeJS.Signals;
  /** Aborted by a second signal, which ends unfinished work immediately. */
  readonly hurry: AbortSignal;
};

/** Resolves at the first signal that requests the process to end. */
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
