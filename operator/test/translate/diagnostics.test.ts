import { readFileSync, readdirSync } from "node:fs";
import { expect } from "chai";

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8");

describe("findings", () => {
  it("the findings in the code are those on the reference page", () => {
    const folder = "../../src/translate/diagnostics/";
    const code = readdirSync(new URL(folder, import.meta.url))
      .map((file) => read(`${folder}${file}`))
      .join("\n");
    const inCode = [...code.matchAll(/(?:finding|failed)\(\s*"(\w+)",\s*"(\w+)"/g)].map(
      ([, severity, reason]) => `${reason} ${severity}`,
    );
    const page = read("../../../docs/reference/events.md");
    const onPage = [...page.matchAll(/^\| `(\w+)`\s*\| (error|warning|info)\s*\|/gm)].map(
      ([, reason, severity]) => `${reason} ${severity}`,
    );
    expect(inCode).to.have.lengthOf.above(20);
    // A finding with two constructors is one.
    expect(onPage).to.have.members([...new Set(inCode)]);
  });
});
