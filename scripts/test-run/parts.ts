/** The tests of one process. */
export type TestPart = { readonly name: string; readonly files: readonly string[] };

/**
 * The folders whose tests run in a process of their own, those that take longest first: what is begun last should be short,
 * so that no processor is left without work.
 */
const folders = [
  "cli",
  "proxy",
  "proxy/test/integration",
  "scripts",
  "operator",
  "proxy/test/http",
  "proxy/test/upstream",
  "common",
  "proto",
];

/**
 * Divides test files, as paths from the root, into parts; a file belongs to the longest folder that holds it, and there is no
 * part without files. A file outside of all folders is an error: it would never run.
 */
export function partsOf(files: readonly string[]): readonly TestPart[] {
  const byFolder = new Map(folders.map((folder) => [folder, [] as string[]]));
  for (const file of files) {
    const [longest] = folders
      .filter((folder) => file.startsWith(`${folder}/`))
      .toSorted((left, right) => right.length - left.length);
    if (longest === undefined) throw new Error(`${file} is in no folder of scripts/test-run/parts.ts`);
    byFolder.get(longest)?.push(file);
  }
  return [...byFolder].flatMap(([name, own]) => (own.length === 0 ? [] : { name, files: own.toSorted() }));
}
