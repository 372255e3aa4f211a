import { expect } from "chai";
import { RE2JS } from "re2js";
import { compileRegex } from "../../src/values/regex.ts";
import { estimateSteps, estimateTables } from "../../src/values/regex-size.ts";

describe("the size of a regular expression", () => {
  for (const pattern of [
    "/users/[0-9]+/(.*)$",
    "a".repeat(1024),
    "a{1000}",
    "[a-z]{1,1000}",
    "(ab?){50}(c|de){3,}",
    "(?:[a-z0-9]{1,63}\\.){1,10}[^]a-f[:digit:]\\]]{2}",
    "(?P<id>\\pL{2}\\p{Greek}{3}\\x{263a}{4})",
    "((a{10}){10}){10}",
    "\\Q({[\\E{5}x{,3}y{z}",
    "(?i)straße|[\\w-]+@[\\w-]+",
  ]) {
    it(`estimateSteps estimates the size of ${pattern.slice(0, 40)} without compiling it`, () => {
      const steps = RE2JS.compile(pattern).programSize();
      expect(estimateSteps(pattern)).to.be.within(steps / 2 - 5, 2 * steps + 20);
    });
  }

  for (const pattern of [
    `(?:${"a".repeat(900)}){1000}`,
    "(?:a?){1000}".repeat(80),
    "[a-y]{0,1000}".repeat(70),
    "((((a{999}){999}){999}){999}){999}",
    `${"(".repeat(500)}a${"){2}".repeat(130)}`,
  ]) {
    it(`compileRegex rejects ${pattern.slice(0, 40)} before it is compiled`, () => {
      expect(estimateSteps(pattern)).to.be.above(10_000);
      expect(compileRegex(pattern, { whole: false })).to.deep.nested.include({
        ok: false,
        "error.message": "the regular expression repeats too much",
      });
    });
  }

  for (const pattern of [
    `(?i)${"[B-\\x{1e942}]".repeat(60)}`,
    `(?si)[${"\\x{42}-\\x{1e942}".repeat(50)}]`,
    `(?i:[^${"B-\u{1e942}".repeat(80)}])`,
    "\\pL".repeat(300),
    `(?i)[${"\\p{Greek}\\PN".repeat(70)}]`,
  ]) {
    it(`compileRegex rejects ${pattern.slice(0, 40)}, which takes long to compile, before it is compiled`, () => {
      expect(estimateTables(pattern)).to.be.above(10_000);
      expect(compileRegex(pattern, { whole: false })).to.deep.nested.include({
        ok: false,
        "error.message":
          "the regular expression has too many Unicode classes, or too many characters whose case does not matter",
      });
    });
  }

  for (const pattern of [
    "(?i)/[a-z0-9-]+/[^/]+",
    "(?i)[\\x{0}-\\x{10ffff}]+",
    "/[\\x{100}-\\x{ffff}]+",
    "(?i)/[\\p{L}\\p{N}_.-]+@\\pL",
    "(?-i)[B-\\x{1e942}]",
  ]) {
    it(`compileRegex accepts ${pattern}`, () => {
      expect(compileRegex(pattern, { whole: false })).to.include({ ok: true });
    });
  }

  it("the estimates are numbers even for text that is not a regular expression", () => {
    for (const pattern of [
      "(",
      ")",
      "[",
      "[a",
      "\\",
      "{1}",
      "a{99999999999999999999}",
      "\\p{",
      "\\Q",
      "(?{2}",
    ]) {
      for (const estimate of [estimateSteps, estimateTables])
        expect(estimate(pattern)).to.be.a("number").and.at.least(0);
    }
  });
});
