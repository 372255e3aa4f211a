import { expect } from "chai";
import { RE2JS } from "re2js";
import { annotations } from "../../src/features/registry.ts";
import { annotationCases } from "./annotation-cases.ts";
import type { Verdict } from "./annotation-values.ts";

const refusals: ReadonlySet<Verdict> = new Set(["malformed", "senseless"]);

describe("the table of annotation values", () => {
  it("the table of annotation values has valid and malformed values of every annotation, and of no other", () => {
    expect(Object.keys(annotationCases)).to.have.members([...annotations.values()].map(({ name }) => name));
    for (const [name, cases] of Object.entries(annotationCases)) {
      const verdicts = cases.map(([, verdict]) => verdict);
      expect(verdicts, name).to.include.members(["taken", "malformed"]);
      expect(new Set(cases.map(([value]) => value)).size, name).to.equal(cases.length);
    }
  });

  for (const [key, { name, parse, form }] of annotations) {
    it(`the parser of ${key} gives the verdicts of the table of annotation values`, () => {
      for (const [value, verdict] of annotationCases[name] ?? []) {
        const warnings: string[] = [];
        const text = value.trim();
        // The reader of annotations does not pass empty values to the parsers.
        const isTaken = text !== "" && parse(text, (message) => warnings.push(message)).ok;
        expect(isTaken, JSON.stringify(value)).to.equal(!refusals.has(verdict));
        expect(warnings.length > 0, JSON.stringify(value)).to.equal(verdict.endsWith("in part"));
      }
    });

    if (form === undefined) continue;
    it(`the form of ${key} gives the verdicts of the table, and its message names the form`, () => {
      const pattern = RE2JS.compile(form.pattern);
      for (const [value, verdict] of annotationCases[name] ?? []) {
        const text = value.trim();
        expect(pattern.test(text), JSON.stringify(value)).to.equal(!verdict.startsWith("malformed"));
        const parsed = parse(text, () => undefined);
        if (text !== "" && verdict === "malformed" && !parsed.ok) {
          expect(parsed.error.message).to.match(new RegExp(`^".*" is not ${form.noun}$`, "su"));
          expect(parsed.error.expected).to.equal(form.expected);
        }
      }
    });
  }
});
