import { expect } from "chai";
import fc from "fast-check";
import { HpackField } from "../../src/http2/hpack/hpack-field.ts";
import { FieldBlock } from "../../src/message/field-block.ts";
import { Fields } from "../../src/message/fields.ts";
import { kindsMask } from "../../src/message/known-names.ts";
import { ListedLines } from "../../src/message/listed-lines.ts";
import { RepeatedLines } from "../../src/message/repeated-lines.ts";

/** One for all: it is used again for each message. */
const lines = new ListedLines();

const fieldsOf = (list: readonly string[], isKept = true): HpackField[] =>
  list.flatMap((name, i) => (i % 2 === 0 ? [new HpackField(name, list[i + 1] as string, 0, isKept)] : []));

function gathered(list: readonly string[] | readonly HpackField[], last = new RepeatedLines()): Fields {
  lines.begin();
  for (const field of typeof list[0] === "string" ? fieldsOf(list as string[]) : (list as HpackField[])) {
    if (field.name === "cookie") lines.addCookie(field);
    else lines.add(field);
  }
  return lines.finish(last);
}

/** The list with all Cookie fields joined at the place of the first. */
function withOneCookie(list: readonly string[]): string[] {
  const joined: string[] = [];
  for (let i = 0; i < list.length; i += 2) {
    const at = list[i] === "cookie" ? joined.indexOf("cookie") : -1;
    if (at >= 0) joined[at + 1] = `${joined[at + 1]}; ${list[i + 1]}`;
    else joined.push(list[i] as string, list[i + 1] as string);
  }
  return joined;
}

const names = ["te", "host", "cookie", "content-length", "x-a", "x-b", "via", "x_forwarded_for", "accept"];
const field = fc.tuple(fc.constantFrom(...names), fc.stringMatching(/^[ -~]{0,40}$/));
const lists = fc.array(field, { maxLength: 40 }).map((pairs) => pairs.flat());

const changes: readonly ((fields: Fields) => void)[] = [
  (fields) => fields.append("x-new", "1"),
  (fields) => fields.remove(new Set(["x-a", "accept"])),
  (fields) => fields.removeKinds(kindsMask("te", "via")),
  (fields) => fields.replace("x-b", "other"),
  (fields) => fields.removeThat((name) => name.startsWith("x")),
  (fields) => fields.rewrite((name, value) => (name === "cookie" ? `${value}!` : undefined)),
];

const shown = (fields: Fields): object => ({
  list: [...fields.toList()],
  text: fields.linesText(),
  without: fields.linesText(kindsMask("te", "host")),
  found: names.map((name) => [
    fields.has(name),
    fields.hasSeveral(name),
    fields.all(name),
    fields.first(name),
  ]),
  count: fields.count,
  octets: fields.octets,
  weight: fields.octetsWith(7),
});

describe("the lines of a message of HTTP/2", () => {
  it("fields gathered as lines are the same as those of a list after any change", () => {
    fc.assert(
      fc.property(lists, fc.array(fc.constantFrom(...changes), { maxLength: 3 }), (list, steps) => {
        const [one, other] = [gathered(list), Fields.checked(withOneCookie(list))];
        const kept = [one, other].map((fields) => fields.withoutKinds(kindsMask("host", "lookalike")));
        for (const step of steps) for (const fields of kept) step(fields);
        expect(shown(kept[0] as Fields)).to.deep.equal(shown(kept[1] as Fields));
        expect(shown(one)).to.deep.equal(shown(other));
      }),
    );
  });

  it("the pieces of a split Cookie are one field in the place of the first, and fields behind it are found", () => {
    const fields = gathered(["x-a", "1", "cookie", "a=1", "x-b", "2", "cookie", "b=2", "cookie", "c=3"]);
    expect(fields.toList()).to.deep.equal(["x-a", "1", "cookie", "a=1; b=2; c=3", "x-b", "2"]);
    expect(fields.linesText()).to.equal("x-a: 1\r\ncookie: a=1; b=2; c=3\r\nx-b: 2\r\n");
    fields.remove(new Set(["cookie"]));
    expect(fields.linesText()).to.equal("x-a: 1\r\nx-b: 2\r\n");
  });

  it("fields that come again on a connection are the same as those of a list after any change, of any message before", () => {
    const messages = fc.array(
      fc.tuple(fc.nat({ max: 2 }), fc.array(fc.constantFrom(...changes), { maxLength: 2 })),
      {
        minLength: 3,
        maxLength: 8,
      },
    );
    fc.assert(
      fc.property(fc.array(lists, { minLength: 3, maxLength: 3 }), messages, (heads, order) => {
        const tables = heads.map((list) => fieldsOf(list));
        const last = new RepeatedLines();
        const block = new FieldBlock(["x-forwarded-for", "192.0.2.1"]);
        for (const [head, steps] of order) {
          const one = gathered(tables[head] as HpackField[], last).withoutKinds(kindsMask("host"));
          const other = Fields.checked(withOneCookie(heads[head] as string[])).withoutKinds(
            kindsMask("host"),
          );
          for (const fields of [one, other]) {
            if (steps.length > 1) fields.appendBlock(block);
            for (const step of steps) step(fields);
          }
          expect(shown(one)).to.deep.equal(shown(other));
        }
      }),
    );
  });

  it("the text of fields that come again follows what is removed from them, left out and put behind them", () => {
    const table = fieldsOf(["x-a", "1", "te", "trailers", "x-b", "2"]);
    const last = new RepeatedLines();
    const again = (): Fields => gathered(table, last);
    const all = "x-a: 1\r\nte: trailers\r\nx-b: 2\r\n";
    for (let i = 0; i < 3; i++) expect(again().linesText()).to.equal(all);
    const removed = again();
    removed.remove(new Set(["x-a"]));
    expect(removed.linesText()).to.equal("te: trailers\r\nx-b: 2\r\n");
    expect(again().linesText()).to.equal(all);
    expect(again().linesText(kindsMask("te"))).to.equal("x-a: 1\r\nx-b: 2\r\n");
    for (const value of ["3", "4"]) {
      const longer = again();
      longer.appendBlock(new FieldBlock(["x-c", value]));
      expect(longer.linesText(kindsMask("te"))).to.equal(`x-a: 1\r\nx-b: 2\r\nx-c: ${value}\r\n`);
    }
  });

  it("fields that come again share their lines, unless their decoder keeps them in no table or they are long", () => {
    const textsOf = (list: readonly string[], isKept: boolean): boolean => {
      const last = new RepeatedLines();
      const fields = fieldsOf(list, isKept);
      for (let i = 0; i < 3; i++) gathered(fields, last);
      return last.lines !== undefined;
    };
    expect(textsOf(["x-a", "1", "cookie", "a=1", "cookie", "b=2"], true)).to.equal(true);
    expect(textsOf(["x-a", "1"], false)).to.equal(false);
    expect(textsOf(["x-a", "1".repeat(5000)], true)).to.equal(false);
  });

  it("a message that is larger than places can say is kept as a list", () => {
    const list = ["x-a", "v".repeat(300_000), "x-b", "2"];
    expect(gathered(list).toList()).to.deep.equal(list);
    expect(gathered(list).first("x-b")).to.equal("2");
  });

  it("the line of a field is the same each time it is asked for", () => {
    const one = new HpackField("x-a", "\xe9", 0);
    expect([one.line, one.line, one.line]).to.deep.equal(Array.from({ length: 3 }, () => "x-a: \xe9\r\n"));
  });
});
