import { expect } from "chai";
import { annotations } from "../../common/src/features/registry.ts";
import { annotationCases } from "../../common/test/features/annotation-cases.ts";
import { call } from "../support/api.ts";
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

  for (const [key, { name, form }] of annotations) {
    it(`judges ${name} as the parser does`, async () => {
      const path = `/apis/networking.k8s.io/v1/namespaces/${sandbox.namespace}/ingresses?dryRun=All`;
      const judged = (annotationCases[name] ?? []).map(async ([value, verdict]) => {
        const body = withAnnotations("judged", { [name]: value });
        const { status, text } = await call(path, { method: "POST", body });
        const isDenied = form !== undefined && verdict.startsWith("malformed");
        expect([value, status]).to.deep.equal([value, isDenied ? 422 : 201]);
        if (isDenied) expect((JSON.parse(text) as { message: string }).message).to.include(`: ${key}: `);
      });
      await Promise.all(judged);
    });
  }
});
