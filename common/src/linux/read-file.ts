import { readFileSync } from "node:fs";

/** Reads a file; undefined if there is no such file. */
export type ReadFile = (path: string) => string | undefined;

/** Reads a file of the system, without the surrounding white space. */
export function readOptional(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return undefined;
  }
}
