import { expect } from "chai";
import canonicalize from "canonicalize";
import fc from "fast-check";
import { canonicalJson } from "@svc-gateway/common/ir/canonical-json.ts";

const names = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 4 }),
  fc.constantFrom(
    "10",
    "9",
    "-1",
    "1e3",
    "0",
    "__proto__",
    "constructor",
    "toJSON ",
    "\u20ac",
    "\ud83d\ude00",
  ),
);
const values = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.string({ unit: "grapheme" }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(true, false, null, undefined),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(names, tie("value"), { maxKeys: 6 }),
  ),
}));

describe("canonicalJson", () => {
  it("canonicalJson writes what another implementation of RFC 8785 writes", () => {
    fc.assert(
      fc.property(fc.dictionary(names, values.value, { maxKeys: 8 }), (value) => {
        expect(canonicalJson(value)).to.equal(canonicalize(value));
      }),
      { numRuns: 1_000 },
    );
  });

  it("canonicalJson does not change the value", () => {
    const value = { b: [{ d: 1, c: 2 }], a: { z: undefined } };
    expect(canonicalJson(value)).to.equal('{"a":{},"b":[{"c":2,"d":1}]}');
    expect(value).to.deep.equal({ b: [{ d: 1, c: 2 }], a: { z: undefined } });
    expect(Object.keys(value)).to.deep.equal(["b", "a"]);
  });

  it("half of a surrogate pair is written as an escape that reads back unchanged", () => {
    const text = canonicalJson({ name: "a\ud800b" });
    expect(text).to.equal(String.raw`{"name":"a\ud800b"}`);
    expect(JSON.parse(text)).to.deep.equal({ name: "a\ud800b" });
  });
});
