import { expect } from "chai";
import fc from "fast-check";
import { FieldBlock } from "../../src/message/field-block.ts";
import { Fields } from "../../src/message/fields.ts";
import { hopByHopKinds } from "../../src/message/hop-by-hop.ts";
import { kindsMask } from "../../src/message/known-names.ts";
import { readFields } from "../../src/http1/read-fields.ts";

/** The same fields as text of HTTP/1 and as a list. */
function bothOf(list: readonly string[]): readonly Fields[] {
  let text = "HTTP/1.1 200 OK\r\n";
  const start = text.length;
  for (let i = 0; i < list.length; i += 2) text += `${list[i]}: ${list[i + 1]}\r\n`;
  const received = readFields(`${text}\r\nbody`, start, text.length, 1000);
  if (received === undefined) throw new Error("the fields are malformed");
  return [received, Fields.of([...list])];
}

const linesOf = (list: readonly string[]): string => {
  let text = "";
  for (let i = 0; i < list.length; i += 2) text += `${list[i]}: ${list[i + 1]}\r\n`;
  return text;
};

const some = ["Host", "a", "X-A", "1", "x-b", "", "x-a", "2", "Connection", "close", "Cookie", "\xe9"];

describe("Fields", () => {
  it("fields are found by their name in any case, as text and as a list", () => {
    for (const fields of bothOf(some)) {
      expect([fields.first("x-a"), fields.joined("x-a"), fields.joined("x-a", ",")]).to.deep.equal([
        "1",
        "1, 2",
        "1,2",
      ]);
      expect([fields.all("x-a"), fields.all("x")]).to.deep.equal([["1", "2"], []]);
      expect([fields.first("x-b"), fields.first("x-c"), fields.cookies()]).to.deep.equal([
        "",
        undefined,
        "\xe9",
      ]);
      expect([fields.has("host"), fields.has("hosts"), fields.has("hos")]).to.deep.equal([
        true,
        false,
        false,
      ]);
      expect([fields.hasSeveral("x-a"), fields.hasSeveral("host")]).to.deep.equal([true, false]);
      expect([fields.count, fields.octets]).to.deep.equal([6, some.join("").length]);
      expect(fields.toList()).to.deep.equal(some);
      expect(fields.linesText()).to.equal(linesOf(some));
    }
  });

  it("fields of kinds that go no further are left out of the text, and the received ones stay as they are", () => {
    for (const fields of bothOf(some)) {
      const kept = fields.withoutKinds(hopByHopKinds);
      kept.append("X-C", "3");
      expect(kept.has("connection")).to.equal(false);
      expect(kept.linesText(kindsMask("host"))).to.equal(
        linesOf(["X-A", "1", "x-b", "", "x-a", "2", "Cookie", "\xe9", "X-C", "3"]),
      );
      expect(fields.toList()).to.deep.equal(some);
    }
  });

  it("a field is a plain number when it was received once, in the shortest decimal way", () => {
    const numberOf = (...values: readonly string[]) =>
      bothOf(values.flatMap((value) => ["Content-Length", value]))[0]?.plainNumber("content-length");
    expect(numberOf("0")).to.equal(0);
    expect(numberOf("1024")).to.equal(1024);
    expect(numberOf("999999999999999")).to.equal(999_999_999_999_999);
    for (const value of [
      "",
      "00",
      "01024",
      "1 024",
      "+1",
      "-1",
      "1.0",
      "0x10",
      "1e3",
      "1,1",
      "1000000000000000",
    ]) {
      expect(numberOf(value), JSON.stringify(value)).to.equal(undefined);
    }
    expect(numberOf("1", "1"), "two lines").to.equal(undefined);
    expect(numberOf(), "absent").to.equal(undefined);
    expect(Fields.of(["Content-Length", "1"]).plainNumber("content-length"), "a list").to.equal(undefined);
  });

  it("fields as text and fields as a list change alike, however many there are", () => {
    const name = fc.constantFrom("A", "a", "B", "c", "Connection", "Set-Cookie", "X_Real_IP", "Proxy-X");
    const field = fc.tuple(name, fc.constantFrom("", "1", "two", "x".repeat(40)));
    const change = fc.oneof(
      fc.record({ what: fc.constantFrom("append", "replace", "put"), field }),
      fc.record({
        what: fc.constantFrom("remove", "removeThat", "withoutKinds", "removeKinds", "block"),
        field,
      }),
    );
    const lists = fc.oneof(
      fc.array(field, { maxLength: 6 }),
      fc.array(field, { minLength: 28, maxLength: 34 }),
    );
    fc.assert(
      fc.property(lists, fc.array(change, { maxLength: 5 }), (fields, changes) => {
        const results = bothOf(fields.flat()).map((one) => {
          let changed = one;
          for (const {
            what,
            field: [spelled, value],
          } of changes) {
            const isNamed = (other: string): boolean => other === spelled;
            if (what === "append") changed.append(spelled, value);
            else if (what === "replace") changed.replace(spelled, value);
            else if (what === "put") changed.put([spelled, value]);
            else if (what === "remove") changed.remove(new Set([spelled.toLowerCase()]));
            else if (what === "removeThat") changed.removeThat(isNamed);
            else if (what === "block") changed.appendBlock(new FieldBlock([spelled, value]));
            else if (what === "removeKinds") changed.removeKinds(hopByHopKinds);
            else changed = changed.withoutKinds(hopByHopKinds);
          }
          return changed;
        });
        const [text, list] = results as [Fields, Fields];
        expect(text.toList()).to.deep.equal(list.toList());
        expect(text.linesText()).to.equal(linesOf(list.toList()));
        expect([text.count, text.octets]).to.deep.equal([list.count, list.octets]);
        for (const known of ["a", "b", "connection", "set-cookie"]) {
          expect(text.all(known)).to.deep.equal(list.all(known));
        }
      }),
    );
  });

  for (const [what, name, value] of [
    ["a line end in a value", "A", "b\r\nC: d"],
    ["a line end in a name", "A\r\nB", "c"],
    ["NUL in a value", "A", "b\0"],
    ["a blank in a name", "A B", "c"],
    ["an empty name", "", "c"],
    ["a character beyond an octet", "A", "\u010d\u010a"],
  ] as const) {
    it(`fields with ${what} are not written, however it came there`, () => {
      for (const fields of [...bothOf(["A", "1"]), Fields.checked(["A", "1"]), Fields.none()]) {
        for (const add of [
          () => fields.append(name, value),
          () => fields.appendAll([name, value]),
          () => fields.appendBlock(new FieldBlock([name, value])),
          () => fields.put([name, value]),
        ]) {
          add();
          expect(fields.linesText()).to.equal(undefined);
          fields.removeThat((one) => one === name);
          expect(fields.linesText()).not.to.equal(undefined);
        }
      }
      expect(Fields.of([name, value]).linesText()).to.equal(undefined);
    });
  }

  it("a value that is changed in its place is checked", () => {
    for (const change of [
      (fields: Fields) => fields.replace("a", "x\r\ny"),
      (fields: Fields) => fields.rewrite(() => "x\r\ny"),
    ]) {
      for (const fields of bothOf(["A", "1"])) {
        change(fields);
        expect(fields.linesText()).to.equal(undefined);
      }
    }
  });

  it("lines that are written in another way, and very long names, are passed on as the proxy writes them", () => {
    for (const [text, list] of [
      ["A:1\r\nB:  2 \t\r\nC:\r\n", ["A", "1", "B", "2", "C", ""]],
      [`${"x".repeat(300)}: 1\r\n`, ["x".repeat(300), "1"]],
      ["Transfer-Encoding:chunked\r\n", ["Transfer-Encoding", "chunked"]],
    ] as const) {
      const fields = readFields(text, 0, text.length, 100);
      expect(fields?.toList()).to.deep.equal(list);
      expect(fields?.linesText()).to.equal(linesOf(list));
      expect(fields?.mayHave(kindsMask("transferEncoding"))).to.equal(true);
    }
  });
});
