import type { Writable } from "node:stream";

/**
 * Resolves when everything that was written to `output` is with its reader. A process that serves has a limit, in
 * milliseconds: a reader that reads nothing must not keep it from its end. A command that answers has none, since its
 * reader may be a person in front of a pager.
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
