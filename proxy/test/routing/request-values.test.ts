import { expect } from "chai";
import fc from "fast-check";
import { headerValue, queryValue } from "../../src/routing/request-values.ts";

describe("headerValue", () => {
  it("compares names without case", () => {
    expect(headerValue(["X-Tenant", "a"], "x-tenant")).to.equal("a");
    expect(headerValue(["x-tenant", "a"], "x-tenant")).to.equal("a");
    expect(headerValue(["X-TENANT", "a"], "x-tenant")).to.equal("a");
  });

  it("tells an absent field from an empty one", () => {
    expect(headerValue(["X-Other", "a"], "x-tenant")).to.equal(undefined);
    expect(headerValue(["X-Tenant", ""], "x-tenant")).to.equal("");
  });

  it("joins repeated fields in order", () => {
    expect(headerValue(["X-A", "1", "X-B", "2", "x-a", "3"], "x-a")).to.equal("1,3");
  });

  it("joins cookie crumbs as HTTP/2 splits them", () => {
    expect(headerValue(["cookie", "a=1", "cookie", "b=2"], "cookie")).to.equal("a=1; b=2");
  });
});

describe("queryValue", () => {
  const rows: readonly (readonly [string, string, string | undefined])[] = [
    ["", "a", undefined],
    ["?", "a", undefined],
    ["?a=1", "a", "1"],
    ["a=1", "a", "1"],
    ["?a=1&b=2", "b", "2"],
    ["?a=1&a=2", "a", "1"],
    ["?a", "a", ""],
    ["?a=", "a", ""],
    ["?a=b=c", "a", "b=c"],
    ["?&&a=1", "a", "1"],
    ["?A=1", "a", undefined],
    ["?a=x%20y", "a", "x y"],
    ["?a=x+y", "a", "x y"],
    ["?a=x%2By", "a", "x+y"],
    ["?a=caf%C3%A9", "a", "café"],
    ["?caf%C3%A9=1", "café", "1"],
    ["?a=%zz", "a", "%zz"],
    ["?a=%ff+1", "a", "%ff+1"],
    ["?__proto__=1", "__proto__", "1"],
    ["?a=1", "constructor", undefined],
  ];
  for (const [query, name, expected] of rows) {
    it(`finds ${name} of ${query} as ${String(expected)}`, () => {
      expect(queryValue(query, name)).to.equal(expected);
    });
  }

  it("does not answer for the query asked before", () => {
    expect(queryValue("?a=1", "a")).to.equal("1");
    expect(queryValue("?a=2", "a")).to.equal("2");
    expect(queryValue("", "a")).to.equal(undefined);
  });

  it("reads what URLSearchParams writes", () => {
    const text = fc.string({ unit: "grapheme", maxLength: 8 });
    fc.assert(
      fc.property(fc.array(fc.tuple(text, text), { maxLength: 5 }), text, (pairs, name) => {
        const parameters = new URLSearchParams(pairs as [string, string][]);
        expect(queryValue(`?${parameters.toString()}`, name)).to.equal(parameters.get(name) ?? undefined);
      }),
    );
  });
});
