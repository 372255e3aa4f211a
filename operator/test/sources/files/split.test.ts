import { expect } from "chai";
import fc from "fast-check";
import { parseAllDocuments } from "yaml";
import { splitDocuments } from "../../../src/sources/files/split.ts";

describe("splitDocuments", () => {
  const cases: readonly (readonly [
    what: string,
    stream: string,
    expected: readonly (readonly [string, number])[],
  ])[] = [
    ["nothing", "", []],
    ["only comments", "# a\n\n# b\n", []],
    ["one document", "a: 1\n", [["a: 1\n", 0]]],
    [
      "two documents",
      "a: 1\n---\nb: 2\n",
      [
        ["a: 1\n", 0],
        ["---\nb: 2\n", 1],
      ],
    ],
    [
      "a leading marker",
      "---\na: 1\n--- # next\nb: 2",
      [
        ["---\na: 1\n", 0],
        ["--- # next\nb: 2", 2],
      ],
    ],
    [
      "Windows line ends",
      "a: 1\r\n---\r\nb: 2\r\n",
      [
        ["a: 1\r\n", 0],
        ["---\r\nb: 2\r\n", 1],
      ],
    ],
    ["comments ahead of the marker", "# licence\n\n---\na: 1\n", [["# licence\n\n---\na: 1\n", 0]]],
    ["a directive ahead of the marker", "%YAML 1.1\n---\na: 1\n", [["%YAML 1.1\n---\na: 1\n", 0]]],
    [
      "an end marker",
      "a: 1\n...\n# rest\n---\nb: 2\n",
      [
        ["a: 1\n...\n", 0],
        ["# rest\n---\nb: 2\n", 2],
      ],
    ],
    ["a marker-like text", "a: ---\n---b: 1\n ---\n", [["a: ---\n---b: 1\n ---\n", 0]]],
    [
      "an empty document",
      "a: 1\n---\n---\nb: 2\n",
      [
        ["a: 1\n", 0],
        ["---\n", 1],
        ["---\nb: 2\n", 2],
      ],
    ],
  ];
  for (const [what, stream, expected] of cases) {
    it(`a stream with ${what} is split into the expected documents`, () => {
      expect(splitDocuments(stream).map(({ text, line }) => [text, line])).to.deep.equal(expected);
    });
  }

  it("the split documents are those that a YAML parser finds in the whole stream", () => {
    const line = fc.constantFrom(
      "---",
      "---",
      "a: 1",
      "b: [1, 2]",
      "# comment",
      "",
      "--- # c",
      "...",
      "  - x",
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 12 }), (lines) => {
        const stream = lines.map((text) => `${text}\n`).join("");
        const whole = parseAllDocuments(stream);
        fc.pre(Array.isArray(whole) && whole.every(({ errors }) => errors.length === 0));
        const contents = (documents: typeof whole): unknown[] =>
          [...documents].map((document) => document.toJS() as unknown).filter((value) => value !== null);
        const parts = splitDocuments(stream).flatMap(({ text }) => contents(parseAllDocuments(text)));
        expect(parts).to.deep.equal(contents(whole));
      }),
    );
  });

  it("no text is lost, and each document has the number of its first line", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("---\n", "a: 1\n", "...\n", "\n", "# c\n")), (lines) => {
        const stream = lines.join("");
        let at = 0;
        for (const { text, line } of splitDocuments(stream)) {
          at = stream.indexOf(text, at);
          expect(stream.slice(0, at).split("\n").length - 1).to.equal(line);
          at += text.length;
        }
      }),
    );
  });
});
