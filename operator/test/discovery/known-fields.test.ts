import { expect } from "chai";
import { contractFields } from "@svc-gateway/common/ir/contract-fields.ts";
import { fieldsBeyond } from "../../src/discovery/known-fields.ts";

describe("the fields that a proxy drops", () => {
  it("a proxy of the same release drops nothing", () => {
    expect(fieldsBeyond(contractFields())).to.deep.equal([]);
  });

  it("a proxy of a newer release, which knows further fields, drops nothing", () => {
    expect(fieldsBeyond([...contractFields(), "features.later", "zone"])).to.deep.equal([]);
  });

  it("a proxy of an older release drops what was added since", () => {
    const added = "features.ext-auth.check.failClosed";
    const older = contractFields().filter((field) => field !== added);
    expect(older).to.have.length(contractFields().length - 1);
    expect(fieldsBeyond(older)).to.deep.equal([added]);
  });

  it("a proxy that does not say what it knows counts as one that drops every field", () => {
    expect(fieldsBeyond([])).to.deep.equal(contractFields());
  });
});
