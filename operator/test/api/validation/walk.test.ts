import { expect } from "chai";
import type { Schema } from "../../../src/api/schema.ts";
import { createFindings, formatPath } from "../../../src/api/validation/problem.ts";
import { compileWalk } from "../../../src/api/validation/walk.ts";

type Outcome = { readonly value: unknown; readonly errors: readonly string[] };

function walk(schema: Schema, value: unknown): Outcome {
  const findings = createFindings();
  const result = compileWalk(schema)(value, findings);
  return {
    value: result,
    errors: findings.errors.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`)),
  };
}

const text: Schema = { type: "string" };
const errorsOf = (schema: Schema, value: unknown): readonly string[] => walk(schema, value).errors;

describe("walk", () => {
  it("the length of text is counted in code points", () => {
    expect(errorsOf({ ...text, maxLength: 2 }, "\u{1F600}\u{1F600}")).to.deep.equal([]);
    expect(errorsOf({ ...text, maxLength: 1 }, "\u{1F600}\u{1F600}")).to.deep.equal([
      'must be at most 1 characters long, found "\u{1F600}\u{1F600}"',
    ]);
    expect(errorsOf({ ...text, minLength: 3 }, "ab")).to.deep.equal([
      'must be at least 3 characters long, found "ab"',
    ]);
  });

  it("a pattern is matched only against text of a bounded length", () => {
    expect(errorsOf({ ...text, pattern: "^a*$" }, "aaa")).to.deep.equal([]);
    expect(errorsOf({ ...text, pattern: "^a*$" }, "a".repeat(5000))).to.have.length(1);
  });

  it("a number must be within both bounds", () => {
    expect(errorsOf({ type: "integer", minimum: 1 }, 0)).to.deep.equal(["must be at least 1, found 0"]);
    expect(errorsOf({ type: "number", maximum: 1 }, 1.5)).to.deep.equal(["must be at most 1, found 1.5"]);
    expect(errorsOf({ type: "integer" }, 2 ** 53)).to.deep.equal([]);
    expect(errorsOf({ type: "integer" }, 2 ** 63)).to.deep.equal([
      "must be an integer, found 9223372036854776000",
    ]);
  });

  it("an int-or-string field accepts integers and text", () => {
    const schema: Schema = { "x-kubernetes-int-or-string": true, pattern: "^[0-9]+%$" };
    expect(errorsOf(schema, 5)).to.deep.equal([]);
    expect(errorsOf(schema, "5%")).to.deep.equal([]);
    expect(errorsOf(schema, "5")).to.deep.equal(['must match ^[0-9]+%$, found "5"']);
    expect(errorsOf(schema, null)).to.deep.equal(["must be an integer or a string, found null"]);
  });

  it("null is kept only where the schema is nullable", () => {
    const schema: Schema = {
      type: "object",
      properties: { a: { ...text, nullable: true }, b: text },
      required: ["b"],
    };
    expect(walk(schema, { a: null, b: null })).to.deep.equal({
      value: { a: null },
      errors: ["b: is required"],
    });
  });

  it("nested defaults are filled in for an object that is itself a default", () => {
    const inner: Schema = { type: "object", properties: { b: { ...text, default: "x" } }, default: {} };
    expect(walk({ type: "object", properties: { a: inner } }, {}).value).to.deep.equal({ a: { b: "x" } });
    expect(walk({ type: "object", properties: { a: inner } }, { a: { b: "y" } }).value).to.deep.equal({
      a: { b: "y" },
    });
  });

  it("unknown fields are kept beside known ones where the schema preserves them", () => {
    const schema: Schema = {
      type: "object",
      properties: { a: text },
      "x-kubernetes-preserve-unknown-fields": true,
    };
    expect(walk(schema, { a: "x", b: [1, { c: null }] }).value).to.deep.equal({
      a: "x",
      b: [1, { c: null }],
    });
  });

  it("the number of entries of maps and lists is bounded", () => {
    const map: Schema = { type: "object", additionalProperties: text, minProperties: 1, maxProperties: 1 };
    expect(errorsOf(map, {})).to.deep.equal(["must have at least 1 entry, found 0"]);
    expect(errorsOf(map, { a: "", b: "" })).to.deep.equal(["must have at most 1 entry, found 2"]);
    expect(errorsOf({ type: "array", items: text, maxItems: 2 }, ["", "", ""])).to.deep.equal([
      "must have at most 2 entries, found 3",
    ]);
  });

  it("repeated entries of sets and of lists with keys are invalid", () => {
    expect(
      errorsOf({ type: "array", items: text, "x-kubernetes-list-type": "set" }, ["a", "b", "a"]),
    ).to.deep.equal(["[2]: repeats entry 0"]);
    const list: Schema = {
      type: "array",
      items: { type: "object", properties: { a: text, b: text } },
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["a"],
    };
    expect(errorsOf(list, [{ a: "x", b: "1" }, { a: "y" }, { a: "x", b: "2" }])).to.deep.equal([
      "[2]: repeats entry 0 (same a)",
    ]);
  });

  it("combinations of constraints (oneOf, anyOf, allOf, not) are evaluated", () => {
    const a: Schema = { required: ["a"] };
    const b: Schema = { required: ["b"] };
    const schema: Schema = { type: "object", properties: { a: text, b: text } };
    const both = { a: "", b: "" };
    expect(errorsOf({ ...schema, oneOf: [a, b] }, { a: "" })).to.deep.equal([]);
    expect(errorsOf({ ...schema, oneOf: [a, b] }, both)).to.deep.equal(["must have a, or b"]);
    expect(errorsOf({ ...schema, anyOf: [a, b] }, both)).to.deep.equal([]);
    expect(errorsOf({ ...schema, anyOf: [a, b] }, {})).to.deep.equal(["must have a, or b"]);
    expect(errorsOf({ ...schema, allOf: [a, b] }, { a: "" })).to.deep.equal(["must have b"]);
    expect(errorsOf({ ...schema, not: a }, { a: "" })).to.deep.equal(["must not have a"]);
    expect(errorsOf({ ...text, anyOf: [{ format: "ipv4" }, { format: "ipv6" }] }, "x")).to.deep.equal([
      'must have ipv4, or ipv6, found "x"',
    ]);
  });
});

describe("formatPath", () => {
  it("a path is written as fields, indexes and quoted keys", () => {
    expect(formatPath([])).to.equal("");
    expect(formatPath(["spec", "rules", 0, "http"])).to.equal("spec.rules[0].http");
    expect(formatPath(["metadata", "annotations", "a.b/c"])).to.equal('metadata.annotations["a.b/c"]');
    expect(formatPath(["data", "x".repeat(1000)])).to.have.length.below(150);
  });
});
