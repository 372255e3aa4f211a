import { expect } from "chai";
import { compileRegex } from "../../src/values/regex.ts";

const matches = (pattern: string, input: string, whole = false): boolean => {
  const regex = compileRegex(pattern, { whole });
  if (!regex.ok) throw new Error(regex.error.message);
  return regex.value.test(input);
};

describe("compileRegex", () => {
  it("a regex matches any part of the input, unless the whole is required", () => {
    expect(matches("b+", "abbc")).to.equal(true);
    expect(matches("b+", "abbc", true)).to.equal(false);
    expect(matches("b+", "bb", true)).to.equal(true);
    expect(matches("a|ab", "ab", true)).to.equal(true);
    expect(matches("^/x$", "/x")).to.equal(true);
    expect(matches("^/x$", "/xy")).to.equal(false);
  });

  it("one pattern can be compiled for a part and for the whole", () => {
    expect(matches("/same", "/a/same/b", false)).to.equal(true);
    expect(matches("/same", "/a/same/b", true)).to.equal(false);
    expect(matches("/same", "/a/same/b", false)).to.equal(true);
  });

  for (const pattern of ["(", "(?=a)", "(a)\\1", "a{1001}", "[", "a".repeat(1025)]) {
    it(`compileRegex rejects ${pattern.slice(0, 20)}`, () => {
      const regex = compileRegex(pattern, { whole: false });
      expect(regex.ok).to.equal(false);
      if (!regex.ok) expect(regex.error.message).to.be.a("string").and.not.equal("");
    });
  }

  it("a regex that was evicted from the cache is compiled again", () => {
    for (let i = 0; i < 5000; i++) expect(matches(`^/n${i}$`, `/n${i}`)).to.equal(true);
    expect(matches("^/n0$", "/n0")).to.equal(true);
  });

  describe("groups", () => {
    const groups = (pattern: string, input: string, whole = false): readonly string[] | undefined => {
      const regex = compileRegex(pattern, { whole });
      if (!regex.ok) throw new Error(regex.error.message);
      return regex.value.find(input)?.groups;
    };

    it("the result of find has the place of the match", () => {
      const regex = compileRegex("b+", { whole: false });
      if (!regex.ok) throw new Error(regex.error.message);
      expect(regex.value.find("/abba/b")).to.deep.equal({ start: 2, end: 4, groups: [] });
    });

    it("the groups are those of the leftmost match, in the order of their brackets", () => {
      expect(groups("/(a+)/((b)c)", "/x/aa/bc/a/bc")).to.deep.equal(["aa", "bc", "b"]);
      expect(groups("/(?P<id>[0-9]+)(?:x)?", "/12x")).to.deep.equal(["12"]);
      expect(groups("/a", "/a")).to.deep.equal([]);
    });

    it("a group that took no part in the match is empty", () => {
      expect(groups("(a)|(b)", "b")).to.deep.equal(["", "b"]);
      expect(groups("(a*)b", "b")).to.deep.equal([""]);
    });

    it("the groups are those of the whole input where that is required", () => {
      expect(groups("(a|ab)(c?)", "abc", true)).to.deep.equal(["ab", "c"]);
      expect(groups("(a)", "ab", true)).to.equal(undefined);
    });

    it("the groups are undefined without a match", () => expect(groups("(a)", "b")).to.equal(undefined));
  });

  describe("matching time", () => {
    // Each pattern blocks a backtracking engine, or takes time quadratic in the length of the input.
    const patterns = [
      "(a+)+$",
      "(a|aa)+$",
      "(a|a?)+$",
      "(.*a){20}$",
      "(a*)*b",
      "^(([a-z])+.)+[A-Z]([a-z])+$",
      `${"a?".repeat(30)}${"a".repeat(30)}$`,
      "(.*)(.*)(.*)(.*)(.*)[^a]$",
      "([^/]+/)*x$",
    ];

    /** The processor time of this thread, which is independent of other processes on the machine. */
    function cost(work: () => void, times: number): number {
      const before = process.threadCpuUsage();
      for (let i = 0; i < times; i++) work();
      const { user, system } = process.threadCpuUsage(before);
      return user + system;
    }

    for (const pattern of patterns) {
      it(`the time to match ${pattern.slice(0, 30)} is proportional to the input`, () => {
        const compiled = compileRegex(pattern, { whole: false });
        if (!compiled.ok) throw new Error(compiled.error.message);
        const { test, find } = compiled.value;
        for (const work of [test, find] as const) {
          // The same total amount of input, in many short pieces and in a few long ones.
          const costs = [
            [500, 48],
            [8000, 3],
          ].map(([length = 0, times = 0]) => {
            const input = `/${"a".repeat(length)}!`;
            work(input);
            return Math.min(...[1, 2].map(() => cost(() => work(input), times)));
          });
          const [short = 0, long = 0] = costs;
          // Linear time is the same, quadratic time 16 times as long; the constant is the resolution of the clock.
          expect(long).to.be.lessThan(4 * short + 100_000);
        }
      });
    }
  });
});
