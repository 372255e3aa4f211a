import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { caseNames, readCase, renderCase, testdata } from "./golden.ts";

/** With GOLDEN=write the outputs are written instead of compared, and outputs without a case are deleted. */
const writes = process.env["GOLDEN"] === "write";

const outputOf = (name: string): URL => new URL(`${name}.out.yaml`, testdata);

describe("translate: golden cases", () => {
  for (const name of caseNames()) {
    it(`${name} translates to its golden output`, () => {
      const output = renderCase(readCase(name));
      if (writes) writeFileSync(outputOf(name), output);
      expect(existsSync(outputOf(name)), `no ${name}.out.yaml: run with GOLDEN=write`).to.equal(true);
      expect(output).to.equal(readFileSync(outputOf(name), "utf8"));
    });
  }

  it("every golden output belongs to a case", () => {
    const names = new Set(caseNames());
    const stale = readdirSync(testdata).filter(
      (file) => file.endsWith(".out.yaml") && !names.has(file.slice(0, -".out.yaml".length)),
    );
    if (writes) for (const file of stale) rmSync(new URL(file, testdata));
    expect(writes ? [] : stale).to.deep.equal([]);
  });
});
