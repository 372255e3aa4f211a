import { expect } from "chai";
import { applyMergePatch } from "../../src/write/merge-patch.ts";

/** The examples of RFC 7396, appendix A: target, patch, result. */
const examples: readonly (readonly [unknown, unknown, unknown])[] = [
  [{ a: "b" }, { a: "c" }, { a: "c" }],
  [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
  [{ a: "b" }, { a: null }, {}],
  [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
  [{ a: ["b"] }, { a: "c" }, { a: "c" }],
  [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
  [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
  [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
  [
    ["a", "b"],
    ["c", "d"],
    ["c", "d"],
  ],
  [{ a: "b" }, ["c"], ["c"]],
  [{ a: "foo" }, null, null],
  [{ a: "foo" }, "bar", "bar"],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: "b", c: null }, { a: "b" }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
];

describe("applyMergePatch", () => {
  for (const [target, patch, result] of examples) {
    it(`the patch ${JSON.stringify(patch)} of ${JSON.stringify(target)} gives the result of RFC 7396`, () => {
      const before = structuredClone(target);
      expect(applyMergePatch(target, patch)).to.deep.equal(result);
      expect(target, "the target stays as it was").to.deep.equal(before);
    });
  }

  it("a member named __proto__ is an ordinary member", () => {
    const merged = applyMergePatch({}, JSON.parse('{"__proto__":{"polluted":1}}')) as object;
    expect(Object.getPrototypeOf(merged)).to.equal(Object.prototype);
    expect(({} as { polluted?: number }).polluted).to.equal(undefined);
  });
});
