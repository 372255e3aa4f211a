import { expect } from "chai";
import fc from "fast-check";
import { appendFields, fieldObject } from "../../src/http2/fields.ts";

const appended = (fields: readonly string[]): string[] => {
  const target: string[] = [];
  appendFields(target, fields);
  return target;
};

describe("appendFields", () => {
  it("appendFields writes names in lower case and keeps order and repetition", () => {
    expect(appended(["X-B", "1", "x-a", "2", "X-B", "3"])).to.deep.equal([
      "x-b",
      "1",
      "x-a",
      "2",
      "x-b",
      "3",
    ]);
  });

  it("appendFields leaves out connection-specific fields", () => {
    for (const name of [
      "Connection",
      "Keep-Alive",
      "Proxy-Connection",
      "Transfer-Encoding",
      "Upgrade",
      "HTTP2-Settings",
    ]) {
      expect(appended([name, "x"])).to.deep.equal([]);
    }
    expect(appended(["TE", "gzip", "te", "trailers"])).to.deep.equal(["te", "trailers"]);
  });

  it("appendFields leaves out fields that no receiver could accept", () => {
    expect(
      appended(["a", "x\r\ny: z", "b", "x\0y", "a b", "1", "", "1", ":path", "/", "c", "1"]),
    ).to.deep.equal(["c", "1"]);
  });

  it("appendFields never writes a line break, NUL, capital letter or pseudo-field", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }))),
        (pairs) => {
          const fields = appended(pairs.flat());
          const names = fields.filter((_, index) => index % 2 === 0);
          const values = fields.filter((_, index) => index % 2 === 1);
          expect(names.filter((name) => !/^[!#$%&'*+\-.^_`|~0-9a-z]+$/.test(name))).to.deep.equal([]);
          // oxlint-disable-next-line no-control-regex
          expect(values.filter((value) => /[\0\r\n]/.test(value))).to.deep.equal([]);
        },
      ),
    );
  });
});

describe("fieldObject", () => {
  it("fieldObject gathers repeated fields", () => {
    expect(fieldObject(["A", "1", "b", "2", "a", "3", "a", "4"])).to.deep.equal({
      a: ["1", "3", "4"],
      b: "2",
    });
  });

  it("fieldObject has no inherited names", () => {
    expect("constructor" in fieldObject([])).to.equal(false);
    expect(fieldObject(["__proto__", "x"])).to.have.own.property("__proto__", "x");
  });
});
