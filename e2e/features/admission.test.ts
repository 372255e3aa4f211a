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

  it("the admission policy rejects a malformed annotation with the message of the Event", async () => {
    const refused = await sandbox.tryApply(withAnnotations("size", { "max-body-size": "10 apples" }));
    expect(refused.status).to.not.equal(0);
    expect(refused.stderr).to.include(
      'ingress.svc-labs.dev/max-body-size: "10 apples" is not a size, expected',
    );
  });

  it("the admission policy accepts valid values and unknown annotations", async () => {
    await sandbox.apply(withAnnotations("good", { "max-body-size": " 10M ", "no-such-annotation": "x" }));
  });

  it("the admission policy rejects a change to an invalid value, and accepts the next valid one", async () => {
    const refused = await sandbox.tryApply(withAnnotations("good", { "max-body-size": "-1" }));
    expect(refused.status).to.not.equal(0);
    await sandbox.apply(withAnnotations("good", { "max-body-size": "11m" }));
  });

  for (const [key, { name, form }] of annotations) {
    it(`the admission policy judges ${name} like the parser of the controller`, async () => {
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
