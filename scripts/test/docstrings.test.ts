import { globSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect } from "chai";

const root = resolve(import.meta.dirname, "../..");

/**
 * Lines, counted from 1, where a docstring is followed by another one. The first docstring of a file may describe the file
 * itself; any later one that no declaration follows was left behind when the declaration moved.
 */
function orphansIn(source: string): readonly number[] {
  const pairs = [...source.matchAll(/\*\/\s*(?=\/\*\*)/g)].filter(
    ({ index }) => source.slice(0, index).split("/**").length > 2,
  );
  return pairs.map(({ index }) => source.slice(0, index).split("\n").length);
}

describe("docstrings", () => {
  it("a docstring that another one follows is found, but for that of the file", () => {
    expect(orphansIn("/** The file. */\n/** A. */\nconst a = 1;\n")).deep.equal([]);
    expect(orphansIn("/** A. */\nconst a = 1;\n\n/** Left behind. */\n/** B. */\nconst b = 2;\n")).deep.equal(
      [4],
    );
  });

  it("each docstring of the project is followed by its declaration", () => {
    const files = globSync("*/{src,test}/**/*.ts", { cwd: root }).concat(
      globSync("scripts/**/*.ts", { cwd: root }),
    );
    const found = files
      .filter((file) => !file.includes("node_modules"))
      .flatMap((file) =>
        orphansIn(readFileSync(resolve(root, file), "utf8")).map((line) => `${file}:${line}`),
      );
    expect(files.length).above(1_000);
    expect(found).deep.equal([]);
  });
});
