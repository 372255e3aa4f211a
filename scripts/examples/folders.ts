import { globSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

const examples = resolve(import.meta.dirname, "../../config/examples");

/** The folders of the examples with requests, which have a standalone.yaml and a README.md; sorted. */
export function exampleFolders(): readonly string[] {
  const withReadme = new Set(globSync("*/README.md", { cwd: examples }).map((file) => dirname(file)));
  return globSync("*/standalone.yaml", { cwd: examples })
    .map((file) => dirname(file))
    .filter((name) => withReadme.has(name))
    .sort()
    .map((name) => join(examples, name));
}
