import { expect } from "chai";
import fc from "fast-check";
import { readPriority } from "../../src/http2/priority.ts";

describe("the Priority field", () => {
  const cases: readonly (readonly [value: string, urgency: number, incremental: boolean])[] = [
    ["", 3, false],
    ["u=0", 0, false],
    ["u=7", 7, false],
    ["  u=1  ", 1, false],
    ["i", 3, true],
    ["i=?1, u=5", 5, true],
    ["u=5 ,\ti", 5, true],
    ["i=?0", 3, false],
    ["u=2;a;b=1, i;x=?0", 2, true],
    // The last of a name counts (RFC 9651 3.2).
    ["u=1, u=6", 6, false],
    ["i, i=?0", 3, false],
    // Of a wrong range or type: absent.
    ["u=8", 3, false],
    ["u=-1, i", 3, true],
    ["u=1, u=9", 3, false],
    ["u=1.0", 3, false],
    ['u="1"', 3, false],
    ["u", 3, false],
    ["u=(1 2)", 3, false],
    ["i=1", 3, false],
    ["i=(a b)", 3, false],
    // Unknown members of any type.
    [`x=1.5, y="a\\"b", z=tok/en, b=:AQ==:, d=@17, l=("a" b;c 1);d=?1, e=(), *k=?0, u=4`, 4, false],
  ];
  for (const [value, urgency, incremental] of cases) {
    it(`Priority ${JSON.stringify(value)} means urgency ${urgency}${incremental ? ", incremental" : ""}`, () => {
      expect(readPriority(value)).to.deep.equal({ urgency, incremental });
    });
  }

  for (const value of [
    "u=1,",
    ",u=1",
    "u=1 i",
    "u=1;;",
    "U=1",
    "u=",
    "u==1",
    "=1",
    "u=1, é",
    'x="a',
    "x=(1",
    "x=?2",
    "u=1\n",
    "u=1; A=1",
    `u=1, x="${"a".repeat(260)}"`,
  ]) {
    it(`Priority ${JSON.stringify(value.slice(0, 20))} is malformed and says nothing`, () => {
      expect(readPriority(value)).to.equal(null);
    });
  }

  it("Priority of any text is read without an error, to a known urgency or nothing", () => {
    const pieces = fc.constantFrom(
      "u",
      "i",
      "=",
      "?1",
      "?",
      "1",
      "9",
      "-",
      ".",
      ",",
      ";",
      " ",
      "(",
      ")",
      '"',
      "\\",
      ":",
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(pieces, { maxLength: 80 }).map((all) => all.join("")),
        ),
        (value) => {
          const priority = readPriority(value);
          if (priority !== null) expect(priority.urgency).to.be.within(0, 7);
          expect(readPriority(value)).to.deep.equal(priority);
        },
      ),
    );
  });
});
