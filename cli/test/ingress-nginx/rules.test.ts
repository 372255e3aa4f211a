import { expect } from "chai";
import { expectAnswers } from "./ask.ts";
import { readRules, together, type RuleCase } from "./rule-cases.ts";
import { serveRules, type ServedRules } from "./rule-gateway.ts";

/** The codes of findings about objects of the namespaces of a case. */
function codesOf({ findings }: ServedRules, { objects }: RuleCase): readonly string[] {
  const namespaces = new Set(
    objects.map((one) => (one as { readonly metadata: { readonly namespace?: string } }).metadata.namespace),
  );
  const own = findings.filter(({ object }) => namespaces.has(object.namespace));
  return [...new Set(own.map(({ reason }) => reason))].sort();
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
