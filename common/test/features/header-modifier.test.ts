import { expect } from "chai";
import {
  headerModifierOf,
  headerModifierSchema,
  parseHeaderFields,
  parseHeaderFieldsToAdd,
  parseHeaderFieldsToSet,
  parseHeaderNames,
  parseHeaderNamesToRemove,
} from "../../src/features/header-modifier.ts";
import type { Warn } from "../../src/features/definition.ts";
import type { Result } from "../../src/values/result.ts";

function run<T>(parse: (text: string, warn: Warn) => Result<T>, text: string) {
  const warnings: string[] = [];
  const parsed = parse(text, (message) => warnings.push(message));
  return { value: parsed.ok ? parsed.value : undefined, warnings };
}

describe("header modifier", () => {
  it("a header modifier is read with one field per line, including commas, colons and empty values", () => {
    const { value, warnings } = run(parseHeaderFields, "X-A: 1, 2\r\n\n  x-b :http://h:1\nX-C:");
    expect(value).to.deep.equal([
      { name: "X-A", value: "1, 2" },
      { name: "x-b", value: "http://h:1" },
      { name: "X-C", value: "" },
    ]);
    expect(warnings).to.deep.equal([]);
    expect(headerModifierSchema.parse({ set: value })).to.deep.equal({ set: value });
  });

  it("text outside ASCII in a header value becomes octets", () => {
    expect(run(parseHeaderFields, "X-A: é").value).to.deep.equal([{ name: "X-A", value: "Ã©" }]);
  });

  for (const text of [
    "no colon",
    ": no name",
    "X Y: 1",
    "X-A: a\u0000b",
    "X-A: a\rb",
    "X-A: 1\nbad",
    "é: 1",
  ]) {
    it(`a header modifier with ${JSON.stringify(text)} is rejected as a whole`, () =>
      expect(run(parseHeaderFields, text).value).to.equal(undefined));
  }

  const untouchable = [
    "Connection",
    "Keep-Alive",
    "Proxy-Connection",
    "TE",
    "Trailer",
    "Transfer-Encoding",
    "Upgrade",
    "Content-Length",
    "X-SSL-Client-Cert",
  ];
  for (const name of untouchable) {
    it(`the protected field ${name} is left out in any case, with a warning`, () => {
      for (const spelling of [name, name.toLowerCase(), name.toUpperCase()]) {
        const warnings = [`${spelling} cannot be changed and is left out`];
        expect(run(parseHeaderFields, `${spelling}: 1\nX-A: 1`)).to.deep.equal({
          value: [{ name: "X-A", value: "1" }],
          warnings,
        });
        expect(run(parseHeaderNames, `${spelling}, X-A`)).to.deep.equal({ value: ["X-A"], warnings });
      }
    });
  }

  it("comma-separated header names are read, and an invalid name is rejected", () => {
    expect(run(parseHeaderNames, "X-A,, x-b ,").value).to.deep.equal(["X-A", "x-b"]);
    expect(run(parseHeaderNames, "X-A, X B").value).to.equal(undefined);
  });

  it("Host may be set to a host with or without a port, and to nothing else", () => {
    for (const host of ["b.example", "b.example:8080", "[::1]:80", "192.0.2.1"]) {
      expect(run(parseHeaderFieldsToSet, `Host: ${host}`).value).to.deep.equal([
        { name: "Host", value: host },
      ]);
    }
    for (const host of ["", "a b", "a/b", "user@a.example", "a.example:99999"]) {
      expect(run(parseHeaderFieldsToSet, `host: ${host}`).value).to.equal(undefined);
    }
  });

  it("a second Host is not added, and the only one is not removed", () => {
    const added = run(parseHeaderFieldsToAdd, "X-A: 1\nHOST: b.example");
    expect(added.value).to.deep.equal([{ name: "X-A", value: "1" }]);
    expect(added.warnings).to.have.lengthOf(1);
    const removed = run(parseHeaderNamesToRemove, "host, X-A");
    expect(removed.value).to.deep.equal(["X-A"]);
    expect(removed.warnings).to.have.lengthOf(1);
  });

  describe("the modifier of three annotations", () => {
    const none = { set: undefined, add: undefined, remove: undefined };
    const field = [{ name: "A", value: "1" }];

    it("the modifier of three annotations holds the lists that have entries", () => {
      expect(headerModifierOf({ set: field, add: [], remove: ["B"] }, () => none)).to.deep.equal({
        set: field,
        remove: ["B"],
      });
      expect(headerModifierOf({ ...none, remove: [] }, () => none)).to.equal(undefined);
    });

    it("the class defaults apply when a list of the Ingress is malformed", () => {
      const ofClass = { ...none, remove: ["Server"] };
      expect(headerModifierOf({ set: "invalid", add: field, remove: ["B"] }, () => ofClass)).to.deep.equal({
        remove: ["Server"],
      });
      expect(headerModifierOf({ ...none, add: "invalid" }, () => none)).to.equal(undefined);
    });

    it("the modifier is off when a list of the class is malformed, too", () => {
      const ofClass = { ...none, set: "invalid", remove: ["Server"] } as const;
      expect(headerModifierOf({ ...none, add: "invalid" }, () => ofClass)).to.equal(undefined);
    });
  });
});
