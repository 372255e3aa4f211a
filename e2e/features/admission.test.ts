import { expect } from "chai";
import { annotations } from "../../common/src/features/registry.ts";
import { formOf } from "../../scripts/generate-chart-admission.ts";
import { ingress } from "../support/ingress.ts";
import { useSandbox } from "../support/sandbox.ts";

describe("the admission policy", () => {
  const sandbox = useSandbox("admission");
  const withAnnotations = (name: string, values: Readonly<Record<string, string>>): object =>
    ingress({ name, host: `${name}.e2e.example`, annotations: values, paths: [{ service: "none" }] });

  it("refuses a value of a wrong form, and says what is wrong as the Event would", async () => {
    const refused = await sandbox.tryApply(withAnnotations("size", { "max-body-size": "10 apples" }));
    expect(refused.status).to.not.equal(0);
    expect(refused.stderr).to.include(
      'ingress.svc-labs.dev/max-body-size: "10 apples" is not a size, expected',
    );
  });

  it("lets good values pass, and keys that it does not know", async () => {
    await sandbox.apply(withAnnotations("good", { "max-body-size": " 10M ", "no-such-annotation": "x" }));
  });

  it("refuses a change to a bad value, and takes the next good one", async () => {
    const refused = await sandbox.tryApply(withAnnotations("good", { "max-body-size": "-1" }));
    expect(refused.status).to.not.equal(0);
    await sandbox.apply(withAnnotations("good", { "max-body-size": "11m" }));
  });

  it("knows every annotation whose values have a form", async () => {
    const formed = [...annotations.values()].filter((definition) => formOf(definition) !== undefined);
    for (const { name } of formed) {
      const refused = await sandbox.tryApply(withAnnotations("form", { [name]: "?!" }));
      expect(refused.stderr, name).to.include(`ingress.svc-labs.dev/${name}: "?!" is not `);
    }
  });
});
