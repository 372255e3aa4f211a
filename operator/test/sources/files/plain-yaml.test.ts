import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import { toJsonValue } from "../../../src/sources/files/convert.ts";
import { readPlainDocument } from "../../../src/sources/files/plain-yaml.ts";
import { splitDocuments } from "../../../src/sources/files/split.ts";
import { parseYaml } from "../../../src/sources/files/yaml-text.ts";

const root = resolve(import.meta.dirname, "../../../..");

/** What the parser makes of the same text; undefined when there is more or less than one document, or a fault. */
async function parsed(text: string): Promise<unknown> {
  const [first, ...others] = await parseYaml(text);
  if (first?.ok !== true || others.length > 0) return undefined;
  const { root: node, positionOf } = first.value;
  const { value, faults } = toJsonValue(node);
  return faults.length > 0 ? undefined : { value, start: positionOf(node.range[0]) };
}

/** Whether a text is read here at all; when it is, the parser gives the same, with the same order of keys. */
async function isReadAlike(text: string): Promise<boolean> {
  const plain = readPlainDocument(text);
  if (plain === undefined) return false;
  const expected = await parsed(text);
  expect(plain, JSON.stringify(text)).to.deep.equal(expected);
  expect(JSON.stringify(plain)).to.equal(JSON.stringify(expected));
  return true;
}

const read = (text: string): unknown => readPlainDocument(text)?.value;

const keys = ["a", "b", "on", "kind", '"q"', "'s'", "a.b/c-d", "null", "__proto__", "y"];
const scalars = [
  ..."1 0 -7 007 1.5 1e3 8m 10.0.0.1 1_0 0x1f 0b1 12:30:00 2001-01-01 123456789012345678 .inf +1".split(" "),
  ..."yes No ON true False null ~ y text /path text#x a:b http://x:80/y *x &x !t @x %x `x ,x ]x =".split(" "),
  ...['"q"', '""', '"a\\"b"', '"a\\nb"', '"\\u0041"', '"a # b"', "'s'", "''", "'it''s'", "'a # b'", '"a" b'],
  ...["two words", "a: b", "a :b", "a ,b", "a [b] {c}", "- x", "a 'b'", "?x", "-x", "<<", "é", "a\tb", "a "],
  ...["[]", "{}", "[ ]", "[a, b]", '["a", 1]', "[a,b]", "[a, ]", "[a b]", "['a,b', c]", "[[a]]", "[a: b]"],
  ...[
    "{a: b}",
    "{ a: 1, b: 'x' }",
    "{a: b, a: c}",
    "{a}",
    "{a: }",
    "{a:b}",
    "{a: [b]}",
    "{a: b, }",
    "[a#b]",
    "[{a: b, c: [d]}, e]",
    '{"a": {b: 1}, c: [x, {}]}',
    "[a]]",
    "[[a]",
    "{a: *x}",
    "{a: b}x",
  ],
  ...["|", "|-", "|+", ">", "|2", "x # comment", '"x" # comment', "'x' #c", "# comment", "[a] # c", '"a" #"'],
];
const scalar = fc.oneof(
  fc.constantFrom(...scalars),
  fc.string({ unit: fc.constantFrom(..."ab0189.-_:# '\"\\/,[]{}|>&*!%@`~=+?n"), maxLength: 8 }),
);
const key = fc.constantFrom(...keys);
const dashes = fc.constantFrom("", "", "", "- ", "-   ", "- - ");
const content = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.tuple(dashes, key, scalar).map(([dash, name, text]) => `${dash}${name}: ${text}`),
  },
  { weight: 4, arbitrary: fc.tuple(dashes, key).map(([dash, name]) => `${dash}${name}:`) },
  { weight: 2, arbitrary: scalar.map((text) => `- ${text}`) },
  {
    weight: 1,
    arbitrary: fc.constantFrom("-", "# comment", "", " ", "---", "...", "--- a", "%YAML 1.1", "? a", "a:b"),
  },
  { weight: 1, arbitrary: scalar },
);
const indent = fc.constantFrom("", "", "  ", "  ", "    ", "      ", " ");
const line = fc.tuple(indent, content).map((parts) => parts.join(""));
const lines = fc
  .tuple(fc.array(line, { minLength: 1, maxLength: 8 }), fc.constantFrom("\n", "", "\n\n"))
  .map(([all, end]) => all.join("\n") + end);

/** A tree of maps and lists, as text with the indentation that people and programs write. */
type Tree = { readonly [name: string]: Tree } | readonly Tree[] | string;
const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 3, depthSize: "small" },
    scalar,
    fc.array(tie("tree"), { maxLength: 3 }),
    fc.dictionary(key, tie("tree"), { maxKeys: 3 }),
  ),
}));

function written(value: Tree, margin: number, listStep: number): string {
  const pad = " ".repeat(margin);
  const below = (inner: Tree): string => {
    if (typeof inner === "string")
      return ` ${inner}\n${/^[|>]/.test(inner) ? `${pad}   text\n\n${pad}   more\n` : ""}`;
    return `\n${written(inner, margin + (Array.isArray(inner) ? listStep : 2), listStep)}`;
  };
  if (typeof value === "string") return `${pad}${value}\n`;
  if (!Array.isArray(value)) {
    return Object.entries(value as object)
      .map(([name, inner]) => `${pad}${name}:${below(inner as Tree)}`)
      .join("");
  }
  return (value as readonly Tree[])
    .map((inner) =>
      typeof inner === "string" || Array.isArray(inner)
        ? `${pad}-${below(inner)}`
        : `${pad}- ${written(inner, margin + 2, listStep).trimStart()}`,
    )
    .join("");
}
const runs = Number(process.env["RUNS"] ?? 500);

describe("readPlainDocument", () => {
  it("a manifest in the usual form is read, with the line on which it begins", () => {
    const text =
      '# comment\n---\nkind: Service # it\nspec:\n  ports:\n  - name: "http"\n    port: 80\n  addresses: [a, 10.0.0.1]\n';
    const value = {
      kind: "Service",
      spec: { ports: [{ name: "http", port: 80 }], addresses: ["a", "10.0.0.1"] },
    };
    expect(readPlainDocument(text)).to.deep.equal({ value, start: { line: 3, column: 1 } });
  });

  it("literal text keeps its line breaks and what looks like a comment", () => {
    expect(read("a: |\n  # x\n\n   y\n\nb: |-\n  z\n")).to.deep.equal({ a: "# x\n\n y\n", b: "z" });
  });

  for (const text of [
    "a: &x 1",
    "a: *x",
    "<<: {}",
    "a: 1\na: 2",
    "a: 1.5",
    "a: yes",
    "a:\tb",
    "a: b\n  c",
    "- a",
    "a: {b: c d}",
  ]) {
    it(`${JSON.stringify(text)} is left to the parser`, () =>
      expect(readPlainDocument(text)).to.equal(undefined));
  }

  it("lines in any order are read as by the parser", () =>
    fc.assert(
      fc.asyncProperty(lines, async (text) => void (await isReadAlike(text))),
      { numRuns: runs },
    ));

  it("nested maps and lists are read as by the parser", () =>
    fc.assert(
      fc.asyncProperty(tree, fc.constantFrom(0, 2), async (value, step) => {
        await isReadAlike(written(value, 0, step));
      }),
      { numRuns: runs },
    ));

  it("a scalar of any characters is read as by the parser", () =>
    fc.assert(
      fc.asyncProperty(scalar, async (text) => void (await isReadAlike(`a: ${text}\n`))),
      { numRuns: runs },
    ));

  it("most examples are read, and as by the parser", async () => {
    const files = globSync("config/examples/**/*.yaml", { cwd: root });
    const documents = files.flatMap((file) => splitDocuments(readFileSync(join(root, file), "utf8")));
    let count = 0;
    for (const { text } of documents) if (await isReadAlike(text)) count++;
    expect(count / documents.length).to.be.greaterThan(0.5);
  });
});
