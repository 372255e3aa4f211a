import { expect } from "chai";
import { expectAnswers } from "./ask.ts";
import { readRules, type RuleCase, type RuleFile } from "./rule-cases.ts";
import { serveRules, type ServedRules } from "./rule-gateway.ts";

/** The codes of findings about objects of the namespaces of a case. */
function codesOf({ findings }: ServedRules, { objects }: RuleCase): readonly string[] {
  const namespaces = new Set(
    objects.map((one) => (one as { readonly metadata: { readonly namespace?: string } }).metadata.namespace),
  );
  const own = findings.filter(({ object }) => namespaces.has(object.namespace));
  return [...new Set(own.map(({ reason }) => reason))].sort();
}

/** Files with the same settings, which one gateway serves. */
function together(files: readonly RuleFile[]): readonly (readonly RuleFile[])[] {
  const groups = new Map<string, RuleFile[]>();
  for (const file of files) {
    const key = JSON.stringify([file.flags, file.config]);
    groups.set(key, [...(groups.get(key) ?? []), file]);
  }
  return [...groups.values()];
}

for (const files of together(readRules())) {
  describe("rules of ingress-nginx", () => {
    let served: ServedRules;

    before(async () => {
      served = await serveRules(files);
    });
    after(() => served.close());

    for (const { name, cases } of files) {
      describe(name.replaceAll("-", " "), () => {
        for (const one of cases) {
          it(one.rule, async () => {
            expect(codesOf(served, one), "findings").to.deep.equal([...one.findings].sort());
            for (const request of one.requests) await expectAnswers(served.ports, request);
          });
        }
      });
    }
  });
}
