import { expect } from "chai";
import fc from "fast-check";
import {
  anchoredPattern,
  literalBeginning,
  literalPattern,
  withoutAnchor,
} from "../../src/values/regex-literal.ts";
import { compileRegex } from "../../src/values/regex.ts";

describe("the literal beginning of a regex", () => {
  const rows: readonly (readonly [string, string, boolean])[] = [
    ["/api", "/api", true],
    ["/", "/", true],
    ["/api(/|$)(.*)", "/api", false],
    ["/x/(?!y)", "/x/", false],
    ["/a\\.b\\/c", "/a.b/c", true],
    ["/a\\d", "/a", false],
    ["/a\\", "/a", false],
    ["/ab?c", "/a", false],
    ["/ab*", "/a", false],
    ["/ab+c", "/ab", false],
    ["/ab{2}", "/a", false],
    ["/a[bc]", "/a", false],
    ["/a.b", "/a", false],
    ["/a$", "/a", false],
    ["/a|/b", "", false],
    ["/a(b|c)", "/a", false],
    ["/a[|]b", "/a", false],
    ["/a\\|b", "/a|b", true],
    ["/a\\Q|\\E", "/a", false],
    ["/a(?i)b", "/a", false],
    ["", "", true],
  ];
  for (const [pattern, text, isWhole] of rows) {
    it(`the regex ${pattern} begins with "${text}"${isWhole ? " and is nothing else" : ""}`, () =>
      expect(literalBeginning(pattern)).to.deep.equal({ text, isWhole }));
  }

  it("every match of an anchored regex begins with the literal beginning in some case", () => {
    const piece = fc.constantFrom(
      "/",
      "a",
      "B",
      "(",
      ")",
      "|",
      "?",
      "*",
      "+",
      "[b",
      "]",
      ".",
      "$",
      "\\.",
      "{2}",
    );
    const input = fc.string({ unit: fc.constantFrom("/", "a", "A", "b", ".", "|", "(") });
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), input, (pieces, text) => {
        const pattern = `/${pieces.join("")}`;
        const regex = compileRegex(anchoredPattern(pattern), { whole: false });
        fc.pre(regex.ok);
        const literal = literalBeginning(pattern);
        const begins = text.toLowerCase().startsWith(literal.text.toLowerCase());
        if (regex.value.test(text)) expect(begins).to.equal(true);
        if (literal.isWhole) expect(regex.value.test(text)).to.equal(begins);
      }),
      { numRuns: 2000 },
    );
  });

  it("the pattern of a text matches the text and no other one", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const regex = compileRegex(literalPattern(text), { whole: true });
        expect(regex.ok && regex.value.test(text)).to.equal(true);
        expect(literalBeginning(literalPattern(text)).text).to.equal(text);
      }),
    );
  });

  it("the anchor of a pattern does not count for its length", () => {
    const longest = "/".repeat(1024);
    expect(compileRegex(anchoredPattern(longest), { whole: false }).ok).to.equal(true);
    expect(compileRegex(anchoredPattern(`${longest}/`), { whole: false }).ok).to.equal(false);
    expect(withoutAnchor(anchoredPattern(longest))).to.equal(longest);
    expect(withoutAnchor("/a")).to.equal(undefined);
  });
});
