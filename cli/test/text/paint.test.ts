import { expect } from "chai";
import { paintFor } from "../../src/text/paint.ts";

describe("paintFor", () => {
  it("a terminal with colours gets escape sequences, also around painted text", () => {
    const { bold, red } = paintFor({ hasColours: true });
    expect(red("no")).to.equal("\u001b[31mno\u001b[39m");
    expect(bold(`a ${red("b")} c`)).to.equal("\u001b[1ma \u001b[31mb\u001b[39m c\u001b[22m");
  });

  it("an output without colours gets the text as it is", () => {
    expect(paintFor({ hasColours: false }).red("no")).to.equal("no");
  });
});
