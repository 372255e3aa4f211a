import { expect } from "chai";
import fc from "fast-check";
import { parseBoolean } from "../../src/values/boolean.ts";
import { parseInteger } from "../../src/values/integer.ts";
import { splitCsv, splitLines } from "../../src/values/list.ts";
import { parseListenPort, parsePort } from "../../src/values/port.ts";

describe("parseBoolean", () => {
  for (const [text, value] of [
    ["true", true],
    ["FALSE", false],
    [" True ", true],
  ] as const) {
    it(`parseBoolean reads "${text}"`, () => expect(parseBoolean(text)).to.deep.equal({ ok: true, value }));
  }
  for (const text of ["", "yes", "1", "0", "on", "truee"]) {
    it(`parseBoolean rejects "${text}"`, () => expect(parseBoolean(text).ok).to.equal(false));
  }
});

describe("parseInteger", () => {
  it("parseInteger accepts exactly the numbers within its bounds", () => {
    fc.assert(
      fc.property(fc.integer({ min: -1000, max: 1000 }), (value) => {
        expect(parseInteger(String(value), { min: -10, max: 10 }).ok).to.equal(value >= -10 && value <= 10);
      }),
    );
  });
  for (const text of ["", "1.0", "1e1", "0x1", "+1", "--1", "١", "1".repeat(17)]) {
    it(`parseInteger rejects "${text}"`, () => expect(parseInteger(text, { min: -10 }).ok).to.equal(false));
  }
});

describe("parsePort", () => {
  it("parsePort reads 1 to 65535", () => {
    expect(["0", "1", "65535", "65536", "-1", "http"].map((text) => parsePort(text).ok)).to.deep.equal([
      false,
      true,
      true,
      false,
      false,
      false,
    ]);
  });
  it("parseListenPort reads 0", () => {
    expect(parseListenPort("0")).to.deep.equal({ ok: true, value: 0 });
  });
});

describe("lists", () => {
  it("splitCsv splits at commas, trims, and drops empty items", () => {
    expect(splitCsv(" a ,, b,\tc ,")).to.deep.equal(["a", "b", "c"]);
    expect(splitCsv(" ")).to.deep.equal([]);
  });
  it("splitLines splits at line ends and keeps commas", () => {
    expect(splitLines("X-A: 1, 2\r\n\n  X-B: 3  \n")).to.deep.equal(["X-A: 1, 2", "X-B: 3"]);
  });
});
