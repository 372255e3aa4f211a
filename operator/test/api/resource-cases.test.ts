import { expect } from "chai";
import { definitionOf, kindNames } from "../../src/api/kinds.ts";
import type { Schema } from "../../src/api/schema.ts";
import { validateObject } from "../../src/api/validate.ts";
import { problemsOf } from "./expect.ts";
import { hostileSpecs } from "./hostile-specs.ts";
import { ours } from "./manifests.ts";
import { casesOf, resourceCases, show, withField } from "./resource-cases/index.ts";

/** The paths of the fields in a schema. A list or an open object counts as one field, with its content. */
function pathsOf(schema: Schema | undefined, path = ""): readonly string[] {
  const properties = schema?.properties;
  if (properties === undefined) return path === "" ? [] : [path];
  return Object.entries(properties).flatMap(([name, child]) =>
    pathsOf(child, path === "" ? name : `${path}.${name}`),
  );
}

describe("the table of field values", () => {
  it("the table of field values has values for every field of the project's own kinds", () => {
    const own = kindNames.filter((kind) => definitionOf(kind).group.endsWith("svc-labs.dev"));
    expect([...resourceCases.keys()]).to.have.members(own);
    for (const [kind, { fields }] of resourceCases) {
      const named = Object.keys(fields);
      for (const path of pathsOf(definitionOf(kind).schema.properties?.["spec"])) {
        const isNamed = named.some((one) => path === one || path.startsWith(`${one}.`));
        expect(isNamed, `${kind} ${path}`).to.equal(true);
      }
    }
  });

  for (const [kind, cases] of resourceCases) {
    it(`the schema of ${kind} gives the verdicts of the table of field values`, () => {
      for (const { path, value, verdict } of casesOf(cases)) {
        const manifest = ours(kind, withField(cases.full, path, value));
        const what = `${path}: ${show(value)}`;
        expect(validateObject(manifest).ok, what).to.equal(verdict !== "refused");
        if (verdict !== "refused") continue;
        const [problem = ""] = problemsOf(manifest);
        expect(problem.startsWith(`spec.${path}`), `${what}: ${problem}`).to.equal(true);
        expect(problem.length).to.be.lessThan(1000);
        expect(problem).to.match(/^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+$/u);
      }
    });

    it(`hostile values in a ${kind} are rejected with a bounded problem or accepted, and never throw`, () => {
      for (const { path, value, spec } of hostileSpecs(kind, cases.full)) {
        const validated = validateObject(ours(kind, spec));
        if (validated.ok || validated.error.reason !== "invalid") continue;
        const problems = validated.error.problems.map((problem) => `${problem.path}: ${problem.message}`);
        expect(
          problems.some((problem) => problem.startsWith("spec")),
          `${path}: ${show(value)}`,
        ).to.equal(true);
        for (const problem of problems) expect(problem.length).to.be.lessThan(1000);
      }
    });
  }
});
