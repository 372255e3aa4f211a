import { expect } from "chai";
import fc from "fast-check";
import { formatByteSize, parseByteSize } from "../../src/values/byte-size.ts";

describe("parseByteSize", () => {
  const accepted: readonly (readonly [string, number])[] = [
    ["0", 0],
    ["1", 1],
    ["1k", 1024],
    ["1K", 1024],
    ["8m", 8 * 1024 ** 2],
    ["2G", 2 * 1024 ** 3],
    [" 10 ", 10],
    ["9007199254740991", Number.MAX_SAFE_INTEGER],
  ];
  for (const [text, bytes] of accepted) {
    it(`parseByteSize reads "${text}"`, () =>
      expect(parseByteSize(text)).to.deep.equal({ ok: true, value: bytes }));
  }

  for (const text of [
    "",
    "k",
    "-1",
    "+1",
    "1.5m",
    "1kb",
    "1Mi",
    "1 k",
    "0x10",
    "1e3",
    "9007199254740992",
    "8388608g",
  ]) {
    it(`parseByteSize rejects "${text}"`, () => expect(parseByteSize(text).ok).to.equal(false));
  }

  it("parseByteSize reads back what formatByteSize writes", () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (bytes) => {
        expect(parseByteSize(formatByteSize(bytes))).to.deep.equal({ ok: true, value: bytes });
      }),
    );
  });
});

describe("formatByteSize", () => {
  it("formatByteSize uses the largest suffix that is exact", () => {
    expect([0, 1000, 65_536, 1024 ** 2, 3 * 1024 ** 3].map(formatByteSize)).to.deep.equal([
      "0",
      "1000",
      "64k",
      "1m",
      "3g",
    ]);
  });
});
