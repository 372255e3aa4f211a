/** Finds texts of the project that break a rule of docs/style.md, as far as a program can tell. */
import { globSync, readFileSync, statSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { avoidedWords } from "./word-list.ts";
import { faultOfDocstring } from "./docstrings.ts";
import { faultOfTestName } from "./test-names.ts";
import { textsOf, type Text } from "./texts.ts";

const root = resolve(import.meta.dirname, "../..");

/** The page that shows the list. */
const exceptions = new Set(["docs/style.md"]);
const ignoredFolders = new Set(["node_modules", "generated", "dist", "coverage", ".cache"]);

/** A fault of a text: on which of its lines, counted from 0, and what to write instead. */
type Fault = { readonly line: number; readonly what: string };

export function faultsOf({ kind, text }: Text): readonly Fault[] {
  const avoided = avoidedWords(text).map(({ found, offset, write }) => ({
    line: text.slice(0, offset).split("\n").length - 1,
    what: `"${found.replaceAll(/\s+/g, " ")}": write ${write}`,
  }));
  const fault =
    kind === "test name" ? faultOfTestName(text) : kind === "comment" ? faultOfDocstring(text) : undefined;
  return fault === undefined ? avoided : [...avoided, { line: 0, what: fault }];
}

/**
 * The faults in files and in everything in folders, both relative to the root of the project, one per line:
 * "file:line: kind: what: text".
 */
export function findingsIn(paths: readonly string[]): readonly string[] {
  return paths
    .flatMap(filesIn)
    .flatMap((file) =>
      textsOf(file, readFileSync(join(root, file), "utf8")).flatMap((text) =>
        faultsOf(text).map(
          ({ line, what }) => `${file}:${text.line + line}: ${text.kind}: ${what}: ${excerpt(text.text)}`,
        ),
      ),
    );
}

/** Throws when there is no such file or folder, so that an entry of a list cannot outlive what it names. */
function filesIn(path: string): readonly string[] {
  const absolute = resolve(root, path);
  const files = statSync(absolute).isDirectory()
    ? globSync("**/*.{md,ts,yaml}", { cwd: absolute, exclude: (name) => ignoredFolders.has(name) }).map(
        (file) => join(absolute, file),
      )
    : [absolute];
  return files
    .map((file) => relative(root, file))
    .filter((file) => !exceptions.has(file))
    .sort();
}

const excerpt = (text: string): string => {
  const line = text.trim().replaceAll(/\s+/g, " ");
  return line.length > 100 ? `${line.slice(0, 100)}…` : line;
};
