import { expect } from "chai";
import fc from "fast-check";
import { blocksRequests } from "../../../src/translate/ingress-nginx/snippets/modsecurity.ts";
import {
  parseSnippet,
  snippetLimits,
  type Statement,
} from "../../../src/translate/ingress-nginx/snippets/parse.ts";
import { readSnippet } from "../../../src/translate/ingress-nginx/snippets/read.ts";

type Shape = string | readonly [string, readonly Shape[]];

const shapeOf = ({ words, block }: Statement): Shape =>
  block === undefined ? words.join("|") : [words.join("|"), block.map(shapeOf)];

const shapesOf = (text: string): readonly Shape[] | string => {
  const parsed = parseSnippet(text);
  return parsed.ok ? parsed.value.map(shapeOf) : parsed.error.message;
};

const word = fc.stringMatching(/^[a-z0-9_.$/:=*^~-]{1,12}$/);
const quoted = fc.string({ maxLength: 20 });
const quote = (text: string): string => `"${text.replaceAll(/[\\"]/g, String.raw`\$&`)}"`;

/** Pieces from which texts are made that look like configuration and are not always. */
const piece = fc.oneof(
  word,
  fc.constantFrom(
    ";",
    "{",
    "}",
    " ",
    "\n",
    '"',
    "'",
    "#",
    "\\",
    "$",
    "${",
    "location",
    "if (",
    ")",
    "deny all;",
  ),
  fc.constantFrom("access_by_lua_block {", "--", "return 403;", "allow", "\u0000", "\uD800"),
  fc.string({ maxLength: 5 }),
);
const messy = fc.array(piece, { maxLength: 200 }).map((parts) => parts.join(""));

describe("snippets of ingress-nginx", () => {
  const cases: readonly (readonly [text: string, expected: readonly Shape[] | string])[] = [
    ["", []],
    ["# only a comment", []],
    ["a;", ["a"]],
    ["a b\n  c;d;", ["a|b|c", "d"]],
    ['a "b c";', ["a|b c"]],
    ["a 'b \"c\"';", ['a|b "c"']],
    [String.raw`a "b\"c\\d\n";`, ['a|b"c\\d\n']],
    [String.raw`a \.php$;`, [String.raw`a|\.php$`]],
    ["a b#c;", ["a|b#c"]],
    ["a b; # c;\nd;", ["a|b", "d"]],
    ["a ${b}c;", ["a|${b}c"]],
    ["a {b;}", [["a", ["b"]]]],
    ["if ($a = 'b') { c; }", [["if|($a|=|b|)", ["c"]]]],
    ["location ~ ^/a{2}$ { b; }", "line 1: a block is not closed"],
    ['location ~ "^/a{2}$" { b; }', [["location|~|^/a{2}$", ["b"]]]],
    ["a { b { c; } }", [["a", [["b", ["c"]]]]]],
    ['x_by_lua_block { local a = "}" -- }\n if a then b {} end } c;', [["x_by_lua_block", []], "c"]],
    ["a", 'line 1: the statement "a" of line 1 does not end'],
    ["\na {", "line 2: a block is not closed"],
    ["a { b; ", "line 1: a block is not closed"],
    ["}", 'line 1: unexpected "}"'],
    [";", 'line 1: unexpected ";"'],
    ['a "b', "line 1: a quoted text is not closed"],
    ['a "b"c;', "line 1: a quoted text is followed by another character than a blank"],
    ["a }", 'line 1: the statement "a" of line 1 does not end'],
  ];
  for (const [text, expected] of cases) {
    it(`the text ${JSON.stringify(text)} is read as nginx reads it`, () => {
      expect(shapesOf(text)).to.deep.equal(expected);
    });
  }

  it("the reader of snippets never throws, and ends with statements or a problem that names a line", () => {
    fc.assert(
      fc.property(messy, (text) => {
        const parsed = parseSnippet(text);
        if (!parsed.ok) expect(parsed.error.message).to.match(/^line \d+: /);
        const { statementsFor, problem } = readSnippet(text);
        const statements = statementsFor();
        expect(problem === undefined).to.equal(parsed.ok);
        for (const { line } of statements) expect(line).to.be.within(1, text.split("\n").length);
      }),
      { numRuns: 2_000 },
    );
  });

  it("quoted words are read back as they were", () => {
    fc.assert(
      fc.property(word, fc.array(quoted, { maxLength: 5 }), (name, args) => {
        const text = `${name.replaceAll("$", "")}x ${args.map(quote).join(" ")};`;
        const parsed = parseSnippet(text);
        expect(parsed.ok && parsed.value[0]?.words.slice(1)).to.deep.equal(args);
      }),
    );
  });

  it("a protecting statement is found wherever it is, or the text is protective as a whole", () => {
    const protects = fc.constantFrom(
      "deny all;",
      "return 403;",
      "auth_basic x;",
      "internal;",
      "limit_req zone=a;",
    );
    fc.assert(
      fc.property(messy, protects, messy, (before, statement, after) => {
        const { statementsFor, problem } = readSnippet(`${before}\n${statement}\n${after}`);
        const statements = statementsFor();
        const text = JSON.stringify(statements);
        // In a comment, a quoted text or Lua it is no statement.
        const isHidden = /["'#]|_by_lua/.test(before);
        if (isHidden) return;
        expect(
          problem?.isProtective === true || statements.some(({ kind }) => kind === "protective"),
          text,
        ).to.equal(true);
      }),
      { numRuns: 2_000 },
    );
  });

  it("the reader of snippets takes steps in proportion to the length of the text", () => {
    const hostile = [
      "{".repeat(60_000),
      "a ".repeat(30_000),
      '"'.repeat(60_000),
      "#\n".repeat(30_000),
      "\\".repeat(60_000),
    ];
    for (const text of hostile) {
      let looks = 0;
      // Counts how often the text is looked at.
      const counted = new Proxy(Object(text) as { [index: string]: unknown }, {
        get: (target, key) => {
          looks += 1;
          const value: unknown = Reflect.get(target, key);
          return typeof value === "function" ? value.bind(text) : value;
        },
      }) as unknown as string;
      parseSnippet(counted);
      expect(looks).to.be.below(10 * text.length);
    }
  });

  it("a text beyond a limit is not read, and is protective if a word in it is", () => {
    expect(shapesOf("a;".repeat(snippetLimits.maxStatements))).to.have.length(snippetLimits.maxStatements);
    expect(shapesOf("a;".repeat(snippetLimits.maxStatements + 1))).to.match(/more than 64 statements/);
    expect(shapesOf("a {".repeat(20))).to.match(/nested too deeply/);
    const long = "#".repeat(snippetLimits.maxLength);
    expect(readSnippet(`${long}a`).problem?.isProtective).to.equal(false);
    expect(readSnippet(`${long}\ndeny all;`).problem?.isProtective).to.equal(true);
  });

  const classes: readonly (readonly [text: string, kinds: string])[] = [
    ['more_set_headers "X-A: b";', "equivalent"],
    ["add_header X-A b;", "equivalent"],
    ["add_header X-A $http_x;", "look"],
    ["more_set_headers -s 404 'X-A: b';", "look"],
    ["more_set_headers 'Connection: close';", "look"],
    ["more_clear_headers 'X-*';", "look"],
    ["proxy_set_header X-A $http_x;", "equivalent"],
    ["proxy_set_header X-A $unknown_thing;", "look"],
    ["proxy_set_header X-A 'a\nb';", "look"],
    ['proxy_set_header X-A "";', "equivalent"],
    ["proxy_set_header Host other.example.com;", "equivalent"],
    ["proxy_set_header Host $host;", "needless"],
    ["proxy_set_header Connection $connection_upgrade;", "needless"],
    ["proxy_set_header X-Forwarded-Proto https;", "equivalent"],
    ["proxy_read_timeout 3600;", "needless"],
    ["client_max_body_size 10m;", "look"],
    ["return 301 https://a.example.com$request_uri;", "look"],
    ["return 200;", "look"],
    ["return 404;", "protective"],
    ["return 503;", "protective"],
    ["if ($http_x) { return 403; }", "protective"],
    ["if ($http_x) { return 302 https://a.example.com/; }", "look"],
    ["if ($http_x) { gzip on; }", "needless"],
    ["allow all;", "needless"],
    ["allow 10.0.0.0/8;", "protective"],
    ["satisfy all;", "needless"],
    ["satisfy any;", "protective"],
    ["auth_basic off;", "needless"],
    ["auth_request /x;", "protective"],
    ["limit_req_zone $binary_remote_addr zone=a:1m rate=1r/s;", "look"],
    ["limit_req zone=a;", "protective"],
    ["limit_except GET { deny all; }", "protective"],
    ["location /a { proxy_pass http://b; }", "look"],
    ["location /a { if ($x) { return 403; } }", "protective"],
    ["modsecurity on;", "protective"],
    ["modsecurity off;", "needless"],
    ["unheard_of deny;", "protective"],
    ["unheard_of on;", "look"],
    ["rewrite_by_lua_block { ngx.exit(403) }", "protective"],
    ["header_filter_by_lua_block { x = 1 }", "look"],
  ];
  for (const [text, kinds] of classes) {
    it(`the statement ${JSON.stringify(text)} is ${kinds}`, () => {
      expect(
        readSnippet(text)
          .statementsFor()
          .map(({ kind }) => kind)
          .join(),
      ).to.equal(kinds);
    });
  }

  it("rules of ModSecurity block only if the engine is on outside of comments", () => {
    for (const rules of ["SecRuleEngine On", 'a\n  secruleengine  "On"\n'])
      expect(blocksRequests(rules)).to.equal(true);
    for (const rules of [
      "# SecRuleEngine On",
      "SecRuleEngine DetectionOnly",
      "SecRuleEngine Off",
      "SecRuleEngine Once",
    ]) {
      expect(blocksRequests(rules), rules).to.equal(false);
    }
  });
});
