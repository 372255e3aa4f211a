import { readFileSync } from "node:fs";
import { expect } from "chai";
import { faultOfDocstring } from "../words/docstrings.ts";
import { faultsOf, findingsIn } from "../words/findings.ts";
import { faultOfTestName } from "../words/test-names.ts";
import { textsOf } from "../words/texts.ts";
import { tokensOf } from "../words/tokens.ts";
import { pairs } from "../words/word-list.ts";

const stylePage = readFileSync(new URL("../../docs/style.md", import.meta.url), "utf8");

describe("the words of the project", () => {
  it("all pages, test names, messages and comments of the project follow docs/style.md", () => {
    expect(findingsIn(["."])).to.deep.equal([]);
  });

  it("the table of docs/style.md shows every pair of the list", () => {
    const rows = [...stylePage.split("## Words")[1]!.matchAll(/^\| (?!Write|-)(.*?) +\| (.*?) +\|$/gm)];
    expect(rows.map(([, write, shown]) => ({ write, shown }))).to.deep.equal(
      pairs.map(({ write, shown }) => ({ write, shown })),
    );
  });

  it("a folder that does not exist is an error, not a room without findings", () => {
    expect(() => findingsIn(["operator/src/nothing"])).to.throw("ENOENT");
  });

  it("every pair finds the words that it shows", () => {
    for (const { shown, not } of pairs) {
      for (const word of shown.split(", ")) expect(`it ${word} it`, shown).to.match(not);
    }
  });

  it("an avoided word is found on its own line of a paragraph", () => {
    expect(faultsOf({ kind: "prose", line: 7, text: "one\nas long\nas two" })).to.deep.equal([
      { line: 1, what: '"as long as": write while, until' },
    ]);
  });

  it("words that only look like avoided ones are allowed", () => {
    const texts = [
      "410 Gone",
      "a bearer token",
      "a standalone program",
      "twice as long as the other",
      "a regular expression",
      "a CEL expression",
      "a stand-in",
    ];
    for (const text of texts) expect(faultsOf({ kind: "message", line: 1, text }), text).to.deep.equal([]);
  });
});

describe("the rule for test names", () => {
  const sentences = [
    "the pool closes a connection that received bytes while it was idle",
    "connections of a removed listener drain",
    "a request without a host is answered 400",
    "Content-Length without a body is kept",
    "HTTP/2 connections are shared",
    "`check` exits with 1 for an unknown kind",
    "when the client leaves, the upstream request is aborted",
    "of two routes of one host, the older one wins",
    "cors: refuses an origin without a scheme",
    "not every header is copied",
    "… is …",
    "all the connections end",
  ];
  for (const name of sentences) {
    it(`the sentence "${name}" is accepted`, () => expect(faultOfTestName(name)).to.equal(undefined));
  }

  const halves = [
    "closes it then",
    "are not put together from two",
    "is refused",
    "with whatever is in an annotation",
    "at the field",
    "and finds nothing wrong with an empty folder",
    "504 when the backend is slow",
    "never sends it twice",
    "timeouts: 504 when the request is not sent in time",
    "in annotations become whole fields, or nothing",
    "frobnicates the header",
    "copies, sorts and writes lines",
    "a header",
  ];
  for (const name of halves) {
    it(`the half "${name}" is found`, () => expect(faultOfTestName(name)).to.be.a("string"));
  }
});

describe("the texts of files", () => {
  const ofSource = (path: string, source: string): readonly string[] =>
    textsOf(path, source).map(({ kind, line, text }) => `${line} ${kind}: ${text}`);

  it("the names of tests are the strings that it and describe begin with", () => {
    const source =
      'describe("a b", () => {\n  it.skip(\n    `c ${d("e f")}`, () => it("g"));\n});\nx.it("no no");';
    expect(ofSource("a/b.test.ts", source)).to.deep.equal([
      "1 message: a b",
      "3 test name: c …",
      "3 test name: g",
    ]);
  });

  it("messages are the strings of two words and more under src, also inside templates", () => {
    const source =
      'const a = `x is ${b ? "not valid" : "right"}`;\nconst c = /"no such"/ ? "word" : \'two words\';';
    expect(ofSource("a/src/b.ts", source)).to.deep.equal([
      "1 message: x is …",
      "1 message: not valid",
      "2 message: two words",
    ]);
    expect(ofSource("a/support/b.ts", source)).to.deep.equal([]);
  });

  it("comments are one text each, without the marks of their lines", () => {
    expect(ofSource("a/src/b.ts", "/**\n * one\n * two\n */\nlet a = 1; // three")).to.deep.equal([
      "1 comment: /**\n one\n two\n */",
      "5 comment: // three",
    ]);
  });

  it("paragraphs of pages are joined, and code, comments and links are left out", () => {
    const page =
      "as long\nas `gone` [x](gone.md)\n\n```\ngone\n```\n<!-- gone -->\n- a\n  b\n- c\n| d |\n| e |\n";
    expect(ofSource("a.md", page)).to.deep.equal([
      "1 prose: as long\nas … [x]",
      "8 prose: - a\n  b",
      "10 prose: - c",
      "11 prose: | d |",
      "12 prose: | e |",
    ]);
  });

  it("the comments of YAML files are pages, and their values are not", () => {
    expect(ofSource("a.yaml", "# one\n# two\na: gone # three\n# four\nb: gone\n")).to.deep.equal([
      "1 prose: one\ntwo\nthree\nfour",
    ]);
  });

  it("regular expressions, divisions and templates inside templates do not confuse the scanner", () => {
    const source = 'a = b / c / d; e = /["`]/.test(f) ? `g${`h${{}}`}` : (1) / 2 + "i j"; // "k"';
    const texts = tokensOf(source).filter(({ kind }) => kind === "text");
    expect(texts.map(({ text }) => text)).to.deep.equal(["g…", "h…", "i j"]);
  });
});

describe("the rule for docstrings", () => {
  it("a docstring that begins with a question word, a pronoun or the case of a missing value is found", () => {
    for (const text of ["/** What is sent. */", "/**\n  Of the route. */", "/** Undefined: none. */"]) {
      expect(faultOfDocstring(text), text).to.contain("begin with the noun that it defines");
    }
  });

  it("avoided words are found in comments, but not in the code and the names of files that comments contain", () => {
    const source = "/** The client is gone; `gone`, gone.md and gone.ts are names. */\nconst a = 1;\n";
    const faults = textsOf("a.ts", source).flatMap(faultsOf);
    expect(faults.map(({ what }) => what)).to.deep.equal([
      '"gone": write removed, deleted, closed, no longer',
    ]);
  });

  it("nouns, verbs, Whether, How, When and line comments are allowed", () => {
    const texts = [
      "/** The largest body in bytes. */",
      "/** Returns the route. */",
      "/** Whether the client sent a body. */",
      "/** How long a probe lasts, in milliseconds. */",
      "/** Iterates over the routes. */",
      "// What follows is read once.",
    ];
    for (const text of texts) expect(faultOfDocstring(text), text).to.equal(undefined);
  });
});
