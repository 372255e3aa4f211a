import type { Writable } from "node:stream";

/**
 * Resolves when everything that was written to `output` has been passed on to its reader. A serving process sets a
 * limit, in milliseconds, so that a reader that does not read cannot keep the process from exiting. Other commands set
 * none, because the reader can be a pager with a person in front of it.
 */
export function lastOutput(output: Pick<Writable, "write">, maxMs: number | undefined): Promise<void> {
  return new Promise((resolve) => {
    const limit = maxMs === undefined ? undefined : setTimeout(resolve, maxMs);
    output.write("", () => {
      clearTimeout(limit);
      resolve();
    });
  });
}
