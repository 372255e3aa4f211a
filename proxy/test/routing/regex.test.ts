import { expect } from "chai";
import { compileRegex } from "../../src/routing/regex.ts";

const matches = (pattern: string, input: string, whole = false): boolean => {
  const regex = compileRegex(pattern, { whole });
  if (!regex.ok) throw new Error(regex.error.message);
  return regex.value.test(input);
};

describe("compileRegex", () => {
  it("matches any part of the input, unless the whole is asked for", () => {
    expect(matches("b+", "abbc")).to.equal(true);
    expect(matches("b+", "abbc", true)).to.equal(false);
    expect(matches("b+", "bb", true)).to.equal(true);
    expect(matches("a|ab", "ab", true)).to.equal(true);
    expect(matches("^/x$", "/x")).to.equal(true);
    expect(matches("^/x$", "/xy")).to.equal(false);
  });

  it("keeps the two meanings of one expression apart", () => {
    expect(matches("/same", "/a/same/b", false)).to.equal(true);
    expect(matches("/same", "/a/same/b", true)).to.equal(false);
    expect(matches("/same", "/a/same/b", false)).to.equal(true);
  });

  for (const pattern of ["(", "(?=a)", "(a)\\1", "a{1001}", "[", "a".repeat(1025)]) {
    it(`refuses ${pattern.slice(0, 20)}`, () => {
      const regex = compileRegex(pattern, { whole: false });
      expect(regex.ok).to.equal(false);
      if (!regex.ok) expect(regex.error.message).to.be.a("string").and.not.equal("");
    });
  }

  it("serves more expressions than it remembers", () => {
    for (let i = 0; i < 5000; i++) expect(matches(`^/n${i}$`, `/n${i}`)).to.equal(true);
    expect(matches("^/n0$", "/n0")).to.equal(true);
  });
});
