import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect } from "chai";
import { blocksOfPage, pages } from "../blocks/check.ts";
import { wrongAnswersOf } from "../blocks/run.ts";
import { writeProgram } from "../bundle/program-folder.ts";

const blocks = pages.flatMap(blocksOfPage).filter(({ options }) => options.has("folder"));

describe("the commands of pages, run in folders", () => {
  let program: string;
  before(async () => {
    program = mkdtempSync(join(tmpdir(), "svc-gateway-pages-"));
    await writeProgram(program);
  });
  after(() => rmSync(program, { recursive: true, force: true }));

  for (const block of blocks)
    it(`the commands of ${block.page}:${String(block.line)} print what the page says`, async () => {
      const wrong = await wrongAnswersOf(block, join(program, "svc-gateway.mjs"));
      expect(wrong.join("\n")).to.equal("");
    });

  it("another output than that of the page is a mistake", async () => {
    const [block] = blocks;
    if (block === undefined) throw new Error("no page has such a block");
    const other = { ...block, text: block.text.replace(/.*$/m, "$ svc-gateway version") };
    const wrong = await wrongAnswersOf(other, join(program, "svc-gateway.mjs"));
    expect(wrong.join("\n")).to.match(/^svc-gateway version\nexpected\n[^]*\nand got\nsvc-gateway \d/);
  });

  it("every folder belongs to a block", () => {
    const named = new Set(blocks.map(({ options }) => options.get("folder")));
    const folders = readdirSync(resolve(import.meta.dirname, "../blocks/folders"));
    expect(folders.filter((folder) => !named.has(folder))).to.deep.equal([]);
  });
});
