import { expect } from "chai";
import { ingress } from "../support/ingress.ts";
import { useSandbox } from "../support/sandbox.ts";
import { until } from "../support/until.ts";

describe("the admission policy", () => {
  const sandbox = useSandbox("admission");
  const withAnnotations = (name: string, annotations: Readonly<Record<string, string>>): object =>
    ingress({ name, host: `${name}.e2e.example`, annotations, paths: [{ service: "none" }] });

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

  it("refuses a change to a bad value, and still lets an object be changed elsewhere", async () => {
    const refused = await sandbox.tryApply(withAnnotations("good", { "max-body-size": "-1" }));
    expect(refused.status).to.not.equal(0);
    await until("another change", async () => {
      const changed = await sandbox.tryApply(withAnnotations("good", { "max-body-size": "11m" }));
      return changed.status === 0;
    });
  });
});
