import { expect } from "chai";
import { plainStrings } from "../../src/text/plain-strings.ts";

describe("plainStrings", () => {
  it("control characters are written as escapes at every depth of data", () => {
    const hostile = {
      name: "x\ny",
      list: [{ kind: "\u001b[31mred" }, "\u009b2J"],
      count: 3,
      none: undefined,
    };
    expect(plainStrings(hostile)).to.deep.equal({
      name: "x\\u000ay",
      list: [{ kind: "\\u001b[31mred" }, "\\u009b2J"],
      count: 3,
      none: undefined,
    });
  });

  it("text without control characters stays as it is, letters of all languages included", () => {
    expect(plainStrings(["Ingress shop/läden", null, true])).to.deep.equal([
      "Ingress shop/läden",
      null,
      true,
    ]);
  });
});
