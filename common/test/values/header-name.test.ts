import { expect } from "chai";
import fc from "fast-check";
import { isHeaderValue, isToken, parseHeaderName, parseHeaderValue } from "../../src/values/header-name.ts";

describe("parseHeaderName", () => {
  it("parseHeaderName keeps the case of a token", () => {
    expect(parseHeaderName(" X-Request-ID ")).to.deep.equal({ ok: true, value: "X-Request-ID" });
    expect(parseHeaderName("!#$%&'*+-.^_`|~9aZ").ok).to.equal(true);
  });

  for (const text of ["", "X A", "X:A", "X\r\nA", "X\0", "Ü", "X(A)", 'X"A', "X/A", "X".repeat(257)]) {
    it(`parseHeaderName rejects ${JSON.stringify(text.slice(0, 20))}`, () =>
      expect(parseHeaderName(text).ok).to.equal(false));
  }

  it("isToken agrees with the grammar for every ASCII character", () => {
    for (let code = 0; code < 128; code += 1) {
      const char = String.fromCharCode(code);
      const isTchar = /[A-Za-z0-9]/.test(char) || "!#$%&'*+-.^_`|~".includes(char);
      expect(isToken(char), JSON.stringify(char)).to.equal(isTchar);
    }
  });
});

describe("parseHeaderValue", () => {
  it("parseHeaderValue drops surrounding whitespace only", () => {
    expect(parseHeaderValue("  a,\tb  c \n")).to.deep.equal({ ok: true, value: "a,\tb  c" });
    expect(parseHeaderValue("")).to.deep.equal({ ok: true, value: "" });
  });

  for (const code of [0, 1, 8, 10, 11, 13, 27, 31, 127]) {
    it(`parseHeaderValue rejects the control character ${code}`, () => {
      expect(parseHeaderValue(`a${String.fromCharCode(code)}b`).ok).to.equal(false);
    });
  }

  it("parseHeaderValue writes text outside ASCII as the octets of UTF-8", () => {
    const parsed = parseHeaderValue("Zürich 日");
    expect(parsed.ok).to.equal(true);
    if (parsed.ok) expect(Buffer.from(parsed.value, "latin1").toString("utf8")).to.equal("Zürich 日");
  });

  it("parseHeaderValue never accepts a character that becomes a line end when it is written as one octet", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const parsed = parseHeaderValue(text);
        if (!parsed.ok) return;
        expect(isHeaderValue(parsed.value)).to.equal(true);
        expect(
          Buffer.from(parsed.value, "latin1").every((octet) => octet === 9 || (octet >= 32 && octet !== 127)),
        ).to.equal(true);
      }),
      { numRuns: 1000 },
    );
  });
});

describe("isHeaderValue", () => {
  it("isHeaderValue rejects characters above one octet and outer whitespace", () => {
    expect(["a", "", "\xe9", "\u010a", " a", "a\t"].map(isHeaderValue)).to.deep.equal([
      true,
      true,
      true,
      false,
      false,
      false,
    ]);
  });
});
