import { readFileSync } from "node:fs";

/** How files are read; undefined when there is no such file. */
export type ReadFile = (path: string) => string | undefined;

/** Reads a file of the system, without the white space around its text. */
export function readOptional(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return undefined;
  }
}
