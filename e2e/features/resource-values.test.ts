import { expect } from "chai";
import { definitionOf, type KindName } from "../../operator/src/api/kinds.ts";
import { validateObject } from "../../operator/src/api/validate.ts";
import { hostileSpecs } from "../../operator/test/api/hostile-specs.ts";
import { ours } from "../../operator/test/api/manifests.ts";
import { casesOf, resourceCases, show, withField } from "../../operator/test/api/resource-cases/index.ts";
import { call } from "../support/api.ts";
import { useSandbox } from "../support/sandbox.ts";

type Judged = { readonly what: string; readonly spec: object; readonly isTaken: boolean };

/** The number of concurrent calls. */
const atOnce = 20;

describe("the schemas of custom resources", () => {
  const sandbox = useSandbox("resource-values");

  async function judge(kind: KindName, all: readonly Judged[]): Promise<void> {
    const { group, versions, plural } = definitionOf(kind);
    const path = `/apis/${group}/${versions[0]}/namespaces/${sandbox.namespace}/${plural}?dryRun=All`;
    const wrong: string[] = [];
    for (let from = 0; from < all.length; from += atOnce) {
      const judged = all.slice(from, from + atOnce).map(async ({ what, spec, isTaken }) => {
        const body = { ...ours(kind, spec), metadata: { name: "judged" } };
        const { status, text } = await call(path, { method: "POST", body });
        if (status !== (isTaken ? 201 : 422)) wrong.push(`${what}: ${status} ${text.slice(0, 300)}`);
      });
      await Promise.all(judged);
    }
    expect(wrong).to.deep.equal([]);
  }

  for (const [kind, cases] of resourceCases) {
    it(`the schema of ${kind} judges the values of the table as expected`, async () => {
      await judge(
        kind,
        casesOf(cases).map(({ path, value, verdict }) => ({
          what: `${path}: ${show(value)}`,
          spec: withField(cases.full, path, value),
          isTaken: verdict !== "refused",
        })),
      );
    });

    it(`the schema of ${kind} judges hostile specs like the controller`, async () => {
      await judge(
        kind,
        hostileSpecs(kind, cases.full).map(({ path, value, spec }) => ({
          what: `${path}: ${show(value)}`,
          spec,
          isTaken: validateObject(ours(kind, spec)).ok,
        })),
      );
    });
  }
});
