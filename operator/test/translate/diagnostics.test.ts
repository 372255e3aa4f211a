import { readFileSync } from "node:fs";
import { expect } from "chai";

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8");

describe("findings", () => {
  it("the findings in the code are those on the reference page", () => {
    const code = read("../../src/translate/diagnostics.ts");
    const inCode = [...code.matchAll(/(?:finding|failed)\(\s*"(\w+)",\s*"(\w+)"/g)].map(
      ([, severity, reason]) => `${reason} ${severity}`,
    );
    const page = read("../../../docs/reference/events.md");
    const onPage = [...page.matchAll(/^\| `(\w+)`\s*\| (error|warning|info)\s*\|/gm)].map(
      ([, reason, severity]) => `${reason} ${severity}`,
    );
    expect(inCode).to.have.lengthOf.above(20);
    // One that is told in two ways is one.
    expect(onPage).to.have.members([...new Set(inCode)]);
  });
});
