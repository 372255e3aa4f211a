/** The coverage that an end-to-end test declares (e2e/support/covers.ts), and the rest of its text. */
export type Coverage = {
  readonly annotations: readonly string[];
  /** Filters of the Gateway API; `ExtensionRef to <kind>` for the project's own resources. */
  readonly filters: readonly string[];
  readonly rest: string;
};

const literals = (text: string): readonly string[] =>
  [...text.matchAll(/"([^"]*)"/g)].map(([, value = ""]) => value);

const calls = /\bcovers(Filters)?\(([^)]*)\)/g;

/** Reads the text of a test file. */
export function coverage(text: string): Coverage {
  const declared = [...text.matchAll(calls)];
  const namesIn = (kind: string | undefined): readonly string[] =>
    declared.flatMap(([, of, names = ""]) => (of === kind ? literals(names) : []));
  return {
    annotations: namesIn(undefined),
    filters: namesIn("Filters"),
    rest: text.replaceAll(calls, ""),
  };
}
