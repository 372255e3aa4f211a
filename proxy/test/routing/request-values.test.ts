import { expect } from "chai";
import fc from "fast-check";
import { headerValue, queryValue } from "../../src/routing/request-values.ts";
import { Fields } from "../../src/message/fields.ts";

describe("headerValue", () => {
  it("header names are compared without case", () => {
    expect(headerValue(Fields.of(["X-Tenant", "a"]), "x-tenant")).to.equal("a");
    expect(headerValue(Fields.of(["x-tenant", "a"]), "x-tenant")).to.equal("a");
    expect(headerValue(Fields.of(["X-TENANT", "a"]), "x-tenant")).to.equal("a");
  });

  it("an absent header has no value, an empty one the empty value", () => {
    expect(headerValue(Fields.of(["X-Other", "a"]), "x-tenant")).to.equal(undefined);
    expect(headerValue(Fields.of(["X-Tenant", ""]), "x-tenant")).to.equal("");
  });

  it("the values of a repeated header are joined in order", () => {
    expect(headerValue(Fields.of(["X-A", "1", "X-B", "2", "x-a", "3"]), "x-a")).to.equal("1,3");
  });

  it("cookie crumbs as HTTP/2 splits them are joined by semicolons", () => {
    expect(headerValue(Fields.of(["cookie", "a=1", "cookie", "b=2"]), "cookie")).to.equal("a=1; b=2");
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
    it(`the parameter ${name} of the query ${query} has the value ${String(expected)}`, () => {
      expect(queryValue(query, name)).to.equal(expected);
    });
  }

  it("a lookup does not answer with the parameters of the query before", () => {
    expect(queryValue("?a=1", "a")).to.equal("1");
    expect(queryValue("?a=2", "a")).to.equal("2");
    expect(queryValue("", "a")).to.equal(undefined);
  });

  it("every query that URLSearchParams writes is read back", () => {
    const text = fc.string({ unit: "grapheme", maxLength: 8 });
    fc.assert(
      fc.property(fc.array(fc.tuple(text, text), { maxLength: 5 }), text, (pairs, name) => {
        const parameters = new URLSearchParams(pairs as [string, string][]);
        expect(queryValue(`?${parameters.toString()}`, name)).to.equal(parameters.get(name) ?? undefined);
      }),
    );
  });
});
