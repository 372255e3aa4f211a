import { expect } from "chai";
import { joinedField, replaceField } from "../../src/message/fields.ts";

describe("fields of a header list", () => {
  it("the lines of a field are joined in order, compared without the case of its name", () => {
    expect(joinedField(["A", "1", "b", "2", "a", "3"], "a")).to.equal("1, 3");
    expect(joinedField(["A", ""], "a")).to.equal("");
    expect(joinedField(["ab", "a"], "a")).to.equal(undefined);
  });

  it("a field is replaced in place, or appended where it is missing", () => {
    const headers = ["A", "1", "b", "2"];
    replaceField(headers, "a", "3");
    replaceField(headers, "C", "4");
    expect(headers).to.deep.equal(["A", "3", "b", "2", "C", "4"]);
  });
});
