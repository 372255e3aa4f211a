import { expect } from "chai";
import { ipAccessControl, ipAccessControlSchema } from "../../src/features/ip-access-control.ts";

describe("ip-access-control", () => {
  const { parse } = ipAccessControl.annotations.ipAccessControl;

  it("ip-access-control: the annotation is a reference", () => {
    expect(parse("infra/office", () => {})).to.deep.equal({
      ok: true,
      value: { namespace: "infra", name: "office" },
    });
  });

  for (const text of ["office", "/office", "infra/", "a/b/c", "Infra/office", "infra/of fice"]) {
    it(`ip-access-control: rejects ${text}`, () => expect(parse(text, () => {}).ok).to.equal(false));
  }

  it("ip-access-control: the snapshot accepts ranges only, and an empty allow list differs from none", () => {
    expect(ipAccessControlSchema.parse({ deny: ["10.0.0.0/8"], allow: [] })).to.deep.equal({
      deny: ["10.0.0.0/8"],
      allow: [],
    });
    expect(ipAccessControlSchema.safeParse({ deny: ["office"] }).success).to.equal(false);
  });
});
