import { readdirSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { annotations } from "../../common/src/features/registry.ts";

const folder = new URL("../../e2e/features/", import.meta.url);
const files = readdirSync(folder)
  .filter((name) => name.endsWith(".test.ts"))
  .map((name) => ({ name, text: readFileSync(new URL(name, folder), "utf8") }));

const literals = (text: string): readonly string[] =>
  [...text.matchAll(/"([^"]*)"/g)].map(([, value = ""]) => value);

/** What a file declares that it covers, and what else it says. */
function readFile({ text }: { readonly text: string }): {
  readonly declared: readonly string[];
  readonly rest: string;
} {
  const calls = /\bcovers\(([^)]*)\)/g;
  return {
    declared: [...text.matchAll(calls)].flatMap(([, names = ""]) => literals(names)),
    rest: text.replaceAll(calls, ""),
  };
}

describe("the end-to-end tests", () => {
  it("cover every annotation", () => {
    const covered = new Set(files.flatMap((file) => readFile(file).declared));
    expect([...covered]).to.have.members([...annotations.values()].map(({ name }) => name));
  });

  for (const file of files) {
    const { declared, rest } = readFile(file);
    if (declared.length === 0) continue;
    it(`of ${file.name} set what they say they cover`, () => {
      for (const name of declared) {
        // A key that needs no quotes is written without them.
        expect(rest, name).to.match(new RegExp(`(?<![\\w-])"?${name}"?:`));
      }
    });
  }
});
