import { expect } from "chai";
import { clipText } from "../../src/values/clip.ts";

const a = (count: number): string => "a".repeat(count);

describe("clipText", () => {
  it("a short text is not clipped", () => {
    expect(clipText(a(80), 80)).to.deep.equal({ text: a(80), isWhole: true });
  });

  it("a long text is clipped around its first unusual character", () => {
    expect(clipText(`${a(500)} b${a(500)}`, 80).text).to.equal(`...${a(40)} b${a(38)}...`);
    expect(clipText(`é${a(500)}`, 80).text).to.equal(`é${a(79)}...`);
    expect(clipText(`${a(500)}\n`, 80).text).to.equal(`...${a(79)}\n`);
  });

  it("a long text without unusual characters is clipped to both of its ends", () => {
    expect(clipText(`begin${a(500)}end`, 80).text).to.equal(`begin${a(49)}...${a(23)}end`);
  });
});
