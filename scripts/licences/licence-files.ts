/** The files of a package that must be distributed with its code. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const licenceName = /^(?:licen[cs]e|copying|unlicense)/i;
const noticeName = /^(?:notice|third[-_]?party[-_]?(?:notice|licen[cs]e))/i;
/** Matches modules, such as `license.js`, which are not licence texts. */
const moduleName = /\.(?:[cm]?[jt]s|json)$/i;

export type LicenceFiles = { readonly licences: readonly string[]; readonly notices: readonly string[] };

/**
 * The licence and notice files next to these sources and in the folders above them, up to the folder of their
 * package; the files of the latter come first. Code that a package has adopted from elsewhere has its licence next to
 * it. All paths are absolute.
 */
export function licenceFilesOf(packageFolder: string, sources: readonly string[]): LicenceFiles {
  const folders = new Set([packageFolder]);
  for (const source of sources) {
    for (let folder = dirname(source); !folders.has(folder); folder = dirname(folder)) folders.add(folder);
  }
  const files = [...folders].sort().flatMap((folder) =>
    readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile() && !moduleName.test(entry.name))
      .map(({ name }) => ({ name, path: join(folder, name) }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
  );
  const named = (pattern: RegExp): readonly string[] =>
    files.filter(({ name }) => pattern.test(name)).map(({ path }) => path);
  return { licences: named(licenceName), notices: named(noticeName) };
}

export const readText = (file: string): string => readFileSync(file, "utf8").trim();
