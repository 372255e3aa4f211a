import { readdirSync } from "node:fs";
import { resolve } from "node:path";
import { expect } from "chai";
import { blocksOfPage, pages } from "../blocks/check.ts";
import { wrongAnswersOf } from "../blocks/run.ts";
import { useBuiltProgram } from "./built-program.ts";

const blocks = pages.flatMap(blocksOfPage).filter(({ options }) => options.has("folder"));

describe("the commands of pages, run in folders", () => {
  const program = useBuiltProgram();

  for (const block of blocks)
    it(`the commands of ${block.page}:${String(block.line)} print what the page says`, async () => {
      const wrong = await wrongAnswersOf(block, program());
      expect(wrong.join("\n")).to.equal("");
    });

  it("another output than that of the page is a mistake", async () => {
    const [block] = blocks;
    if (block === undefined) throw new Error("no page has such a block");
    const other = { ...block, text: block.text.replace(/.*$/m, "$ svc-gateway version") };
    const wrong = await wrongAnswersOf(other, program());
    expect(wrong.join("\n")).to.match(/^svc-gateway version\nexpected\n[^]*\nand got\nsvc-gateway \d/);
  });

  it("every folder belongs to a block", () => {
    const named = new Set(blocks.map(({ options }) => options.get("folder")));
    const folders = readdirSync(resolve(import.meta.dirname, "../blocks/folders"));
    expect(folders.filter((folder) => !named.has(folder))).to.deep.equal([]);
  });
});
