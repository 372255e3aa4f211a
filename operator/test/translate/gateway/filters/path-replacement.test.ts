import { expect } from "chai";
import { canonicalReplacement } from "../../../../src/translate/gateway/filters/path-replacement.ts";

const read = (replacement: string, pattern: string): string => {
  const result = canonicalReplacement(replacement, pattern);
  return result.ok ? result.value : result.error.message;
};

describe("the replacement of a PathRewriteRegex", () => {
  for (const [pattern, replacement, expected] of [
    ["^/old", "/%7Eu", "/~u"],
    ["^/old", "/a%2fb%2Fc%20d", "/a%2fb%2Fc%20d"],
    ["^/old/(.*)$", "/a/./$1", "/a/$1"],
    ["^/old/(.*)$", "/a/b/.%2E/$1", "/a/$1"],
    ["^/old/(.*)$", "/../a/$1", "/a/$1"],
    ["^/old/(.)", "/$1%32", "/${1}2"],
    ["^/old/(.)", "/$99999999999999999999999/x", "/$1000000/x"],
    ["^/old$", "/a/..", "/"],
    ["^/old$", "/a/.", "/a/"],
    ["^/old", "./x", "x"],
    ["^/", "$1/./$$1/$", "$1/$$1/$"],
    ["/old/", "/a/b/../../c/", "/c/"],
  ] as const) {
    it(`the replacement ${replacement} of ${pattern} is used as ${expected}`, () => {
      expect(read(replacement, pattern)).to.equal(expected);
    });
  }

  for (const [pattern, replacement] of [
    ["-", "."],
    ["^/old-", "/."],
    ["old", "../x"],
    ["a|b$", "/a/."],
    ["\\Q$", "/a/."],
    ["x\\$", "/a/."],
    ["^*old", "./x"],
    ["^/(.*)$", "/.$1/$1./x"],
  ] as const) {
    it(`the replacement ${replacement} of ${pattern} is unchanged, because it depends on the path whether it has dot segments`, () => {
      expect(read(replacement, pattern)).to.equal(replacement);
    });
  }

  for (const [pattern, replacement, why] of [
    ["/old", "/../x", "removes none of its own segments"],
    ["/old", "x/../y", "removes none of its own segments"],
    ["^/(.*)/old", "/$1/../x", "removes none of its own segments"],
    ["^/old", "/a%00", "has a NUL character"],
    ["^/(.)", "/$%31", "would refer to a group"],
  ] as const) {
    it(`the replacement ${replacement} of ${pattern} is an error that names its cause`, () => {
      expect(read(replacement, pattern)).to.include(why).and.include(JSON.stringify(replacement));
    });
  }
});
