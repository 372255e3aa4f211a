import { expect } from "chai";
import { ipAccessControl, ipAccessControlSchema } from "../../src/features/ip-access-control.ts";

describe("ip-access-control", () => {
  const { parse } = ipAccessControl.annotations.ipAccessControl;

  it("reads a reference", () => {
    expect(parse("infra/office", () => {})).to.deep.equal({
      ok: true,
      value: { namespace: "infra", name: "office" },
    });
  });

  for (const text of ["office", "/office", "infra/", "a/b/c", "Infra/office", "infra/of fice"]) {
    it(`refuses ${text}`, () => expect(parse(text, () => {}).ok).to.equal(false));
  }

  it("travels with ranges only, and tells an empty allow list from none", () => {
    expect(ipAccessControlSchema.parse({ deny: ["10.0.0.0/8"], allow: [] })).to.deep.equal({
      deny: ["10.0.0.0/8"],
      allow: [],
    });
    expect(ipAccessControlSchema.safeParse({ deny: ["office"] }).success).to.equal(false);
  });
});
