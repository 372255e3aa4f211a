import { expect } from "chai";
import {
  fieldLines,
  fieldNames,
  fieldPairs,
  firstField,
  joinedField,
  keptFields,
  plainName,
  putFields,
} from "../../src/message/field-list.ts";

describe("fields of a header list", () => {
  const headers = (): string[] => ["A", "1", "b", "2", "a", "3"];

  it("the lines of a field are joined in order, compared without the case of its name", () => {
    expect(joinedField(headers(), "a")).to.equal("1, 3");
    expect(joinedField(headers(), "a", ",")).to.equal("1,3");
    expect(joinedField(["A", ""], "a")).to.equal("");
    expect(joinedField(["ab", "a"], "a")).to.equal(undefined);
  });

  it("the lines of a field are found one by one, the first of them alone as well", () => {
    expect(fieldLines(headers(), "a")).to.deep.equal(["1", "3"]);
    expect(fieldLines(headers(), "c")).to.deep.equal([]);
    expect(firstField(headers(), "a")).to.equal("1");
    expect(firstField(["A", ""], "a")).to.equal("");
    expect(firstField(headers(), "c")).to.equal(undefined);
  });

  it("a list is read as pairs, and as names in lower case or another spelling", () => {
    expect(fieldPairs(headers())).to.deep.equal([
      ["A", "1"],
      ["b", "2"],
      ["a", "3"],
    ]);
    expect([...fieldNames(headers())]).to.deep.equal(["a", "b"]);
    expect([...fieldNames(["X_A", "1"], plainName)]).to.deep.equal(["x-a"]);
  });

  it("fields are kept in a list of their own by name and value, as they were sent", () => {
    const list = headers();
    expect(keptFields(list, (name, value) => name === "A" || value === "2")).to.deep.equal([
      "A",
      "1",
      "b",
      "2",
    ]);
    expect(list).to.deep.equal(headers());
  });

  it("fields are put in place of those of their names, cookies beside them", () => {
    const list = ["A", "1", "Set-Cookie", "x", "b", "2"];
    putFields(list, ["a", "3", "set-cookie", "y"]);
    expect(list).to.deep.equal(["Set-Cookie", "x", "b", "2", "a", "3", "set-cookie", "y"]);
  });
});
