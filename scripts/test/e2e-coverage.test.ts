import { readdirSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { annotations } from "../../common/src/features/registry.ts";
import { coverage } from "./e2e-coverage.ts";

const folder = new URL("../../e2e/features/", import.meta.url);
const files = readdirSync(folder)
  .filter((name) => name.endsWith(".test.ts"))
  .map((name) => ({ name, ...coverage(readFileSync(new URL(name, folder), "utf8")) }));

describe("the end-to-end tests", () => {
  it("the end-to-end tests cover every annotation", () => {
    const covered = new Set(files.flatMap((file) => file.annotations));
    expect([...covered]).to.have.members([...annotations.values()].map(({ name }) => name));
  });

  for (const { name: file, annotations: declared, filters, rest } of files) {
    if (declared.length + filters.length === 0) continue;
    it(`${file} sets what it says it covers`, () => {
      for (const name of declared) {
        // A key that needs no quotes is written without them.
        expect(rest, name).to.match(new RegExp(`(?<![\\w-])"?${name}"?:`));
      }
      for (const name of filters) expect(rest, name).to.include(`"${name.replace("ExtensionRef to ", "")}"`);
    });
  }
});
