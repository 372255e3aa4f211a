/** The tests of one process. */
export type TestPart = { readonly name: string; readonly files: readonly string[] };

/**
 * The folders with tests that run in a separate process. Those that take longest come first: the last one to start
 * should be short, so that no processor is idle.
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
 * Divides test files, given as paths from the root, into parts. A file belongs to the longest folder that contains
 * it, and there is no part without files. A file outside all folders is an error, because it would never run.
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
