import { expect } from "chai";
import fc from "fast-check";
import { HpackField } from "../../src/http2/hpack/hpack-field.ts";
import { Fields } from "../../src/message/fields.ts";
import { kindsMask } from "../../src/message/known-names.ts";
import { ListedLines } from "../../src/message/listed-lines.ts";

/** One for all: it is used again for each message. */
const lines = new ListedLines();

function gathered(list: readonly string[]): Fields {
  lines.begin();
  for (let i = 0; i < list.length; i += 2)
    lines.add(new HpackField(list[i] as string, list[i + 1] as string, 0));
  return lines.finish();
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
        const [one, other] = [gathered(list), Fields.checked([...list])];
        const kept = [one, other].map((fields) => fields.withoutKinds(kindsMask("host", "lookalike")));
        for (const step of steps) for (const fields of kept) step(fields);
        expect(shown(kept[0] as Fields)).to.deep.equal(shown(kept[1] as Fields));
        expect(shown(one)).to.deep.equal(shown(other));
      }),
    );
  });

  it("a field in the place of another is in the text and in the list, and fields behind it are found", () => {
    lines.begin();
    lines.add(new HpackField("x-a", "1", 0));
    const at = lines.count;
    lines.add(new HpackField("cookie", "a=1", 0));
    lines.add(new HpackField("x-b", "2", 0));
    lines.replace(at, new HpackField("cookie", `${lines.at(at).value}; b=2`, 0));
    const fields = lines.finish();
    expect(fields.toList()).to.deep.equal(["x-a", "1", "cookie", "a=1; b=2", "x-b", "2"]);
    expect(fields.linesText()).to.equal("x-a: 1\r\ncookie: a=1; b=2\r\nx-b: 2\r\n");
    fields.remove(new Set(["cookie"]));
    expect(fields.linesText()).to.equal("x-a: 1\r\nx-b: 2\r\n");
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
