import { expect } from "chai";
import fc from "fast-check";
import type { PathLevel } from "@svc-gateway/common/features/path-normalize.ts";
import { normalisePath } from "../../src/routing/normalise-path.ts";

const levels: readonly PathLevel[] = ["base", "merge-slashes", "decode-and-merge-slashes"];

/** Rows: input, then the result at each level; `400` means a refusal. */
const table: readonly (readonly [string, string, string, string])[] = [
  ["/", "/", "/", "/"],
  ["/a/b", "/a/b", "/a/b", "/a/b"],
  ["/a/b/", "/a/b/", "/a/b/", "/a/b/"],
  // Escapes of unreserved characters are decoded; all others stay as written, case included.
  ["/%7Euser", "/~user", "/~user", "/~user"],
  ["/%7euser", "/~user", "/~user", "/~user"],
  ["/%41%5a%30%2D%2e%5F", "/AZ0-._", "/AZ0-._", "/AZ0-._"],
  ["/caf%c3%A9", "/caf%c3%A9", "/caf%c3%A9", "/caf%c3%A9"],
  ["/a%20b", "/a%20b", "/a%20b", "/a%20b"],
  ["/a%25b", "/a%25b", "/a%25b", "/a%25b"],
  ["/%2541", "/%2541", "/%2541", "/%2541"],
  ["/%252e%252e/x", "/%252e%252e/x", "/%252e%252e/x", "/%252e%252e/x"],
  ["/a%23b", "/a%23b", "/a%23b", "/a%23b"],
  ["/a%3Fb", "/a%3Fb", "/a%3Fb", "/a%3Fb"],
  ["/a%0ab", "/a%0ab", "/a%0ab", "/a%0ab"],
  // Backslashes.
  ["/a\\b", "/a/b", "/a/b", "/a/b"],
  ["/a\\..\\b", "/b", "/b", "/b"],
  ["/\\\\a", "///a", "/a", "/a"],
  // Dot segments.
  ["/.", "/", "/", "/"],
  ["/..", "/", "/", "/"],
  ["/./", "/", "/", "/"],
  ["/../", "/", "/", "/"],
  ["/../../etc/passwd", "/etc/passwd", "/etc/passwd", "/etc/passwd"],
  ["/a/./b", "/a/b", "/a/b", "/a/b"],
  ["/a/../b", "/b", "/b", "/b"],
  ["/a/b/..", "/a/", "/a/", "/a/"],
  ["/a/b/.", "/a/b/", "/a/b/", "/a/b/"],
  ["/a/b/c/./../../g", "/a/g", "/a/g", "/a/g"],
  ["/%2e%2e/a", "/a", "/a", "/a"],
  ["/a/.%2E/b", "/b", "/b", "/b"],
  ["/a/%2e./b", "/b", "/b", "/b"],
  ["/a/%2e/b", "/a/b", "/a/b", "/a/b"],
  [
    "/.well-known/acme-challenge/x",
    "/.well-known/acme-challenge/x",
    "/.well-known/acme-challenge/x",
    "/.well-known/acme-challenge/x",
  ],
  ["/...", "/...", "/...", "/..."],
  ["/..a/.b./c..", "/..a/.b./c..", "/..a/.b./c..", "/..a/.b./c.."],
  ["/a..", "/a..", "/a..", "/a.."],
  ["/..;/a", "/..;/a", "/..;/a", "/..;/a"],
  // Empty segments are segments at `base`, and are merged after dot segments are removed.
  ["//", "//", "/", "/"],
  ["//a//b", "//a//b", "/a/b", "/a/b"],
  ["/a//../b", "/a/b", "/a/b", "/a/b"],
  ["/..//a", "//a", "/a", "/a"],
  // Encoded separators.
  ["/a%2fb", "/a%2fb", "/a%2fb", "/a/b"],
  ["/a%2Fb", "/a%2Fb", "/a%2Fb", "/a/b"],
  ["/a%5cb", "/a%5cb", "/a%5cb", "/a/b"],
  ["/a%5Cb", "/a%5Cb", "/a%5Cb", "/a/b"],
  ["/a/..%2fb", "/a/..%2fb", "/a/..%2fb", "/b"],
  ["/a%2f..%5c..%2Fb", "/a%2f..%5c..%2Fb", "/a%2f..%5c..%2Fb", "/b"],
  ["/a%2f%2fb", "/a%2f%2fb", "/a%2f%2fb", "/a/b"],
  ["/a%252fb", "/a%252fb", "/a%252fb", "/a%252fb"],
  // Refusals.
  ["", "400", "400", "400"],
  ["a", "400", "400", "400"],
  ["\\a", "400", "400", "400"],
  ["/a#b", "400", "400", "400"],
  ["/%41#b", "400", "400", "400"],
  ["/a b", "400", "400", "400"],
  ["/a\tb", "400", "400", "400"],
  ["/a\u0000b", "400", "400", "400"],
  ["/a\u007fb", "400", "400", "400"],
  ["/%41\u007fb", "400", "400", "400"],
  ["/%41\rb", "400", "400", "400"],
  ["/caf\u00e9", "400", "400", "400"],
  ["/%41\u00e9", "400", "400", "400"],
  ["/a%00", "400", "400", "400"],
  ["/a%", "400", "400", "400"],
  ["/a%4", "400", "400", "400"],
  ["/a%4/", "400", "400", "400"],
  ["/a%zz", "400", "400", "400"],
  ["/a%4g", "400", "400", "400"],
  ["/a%%34%31", "400", "400", "400"],
  ["/a%u0041", "400", "400", "400"],
];

/** Paths made of the pieces that matter, so that random ones meet the rules. */
const piece = fc.constantFrom(
  "/",
  "/",
  "//",
  ".",
  "..",
  "/./",
  "/../",
  "\\",
  "a",
  "b",
  "~",
  "%2e",
  "%2E",
  "%2f",
  "%2F",
  "%5c",
  "%5C",
  "%41",
  "%7e",
  "%20",
  "%25",
  "%c3%A9",
  "%00",
  "%",
  "%4",
  "%zz",
  "#",
  " ",
  "\u0001",
  "é",
  ";",
  "25",
  "2e",
);
const path = fc.array(piece, { maxLength: 14 }).map((pieces) => `/${pieces.join("")}`);
const level = fc.constantFrom(...levels);

/** The same rules without any care for speed: the algorithm of RFC 3986 5.2.4 letter by letter. */
function obviousNormalise(text: string, at: PathLevel): string | undefined {
  if (!text.startsWith("/")) return undefined;
  // oxlint-disable-next-line no-control-regex
  if (/[^\u0021-\u007e]|#/.test(text)) return undefined;
  if (/%(?![0-9a-fA-F]{2})/.test(text) || text.includes("%00")) return undefined;
  const decodable = at === "decode-and-merge-slashes" ? /[A-Za-z0-9\-._~/\\]/ : /[A-Za-z0-9\-._~]/;
  const decoded = text.replaceAll(/%[0-9a-fA-F]{2}/g, (escape) => {
    const char = String.fromCharCode(Number.parseInt(escape.slice(1), 16));
    return decodable.test(char) ? char : escape;
  });
  const undotted = remove(decoded.replaceAll("\\", "/"));
  return at === "base" ? undotted : undotted.replaceAll(/\/+/g, "/");
}

function remove(path_: string): string {
  let input = path_;
  let output = "";
  while (input !== "") {
    if (input.startsWith("../")) input = input.slice(3);
    else if (input.startsWith("./")) input = input.slice(2);
    else if (input.startsWith("/./")) input = input.slice(2);
    else if (input === "/.") input = "/";
    else if (input.startsWith("/../") || input === "/..") {
      input = `/${input.slice(4)}`;
      output = output.slice(0, Math.max(0, output.lastIndexOf("/")));
    } else if (input === "." || input === "..") input = "";
    else {
      const end = input.indexOf("/", 1);
      const segment = end < 0 ? input : input.slice(0, end);
      output += segment;
      input = input.slice(segment.length);
    }
  }
  return output;
}

describe("normalisePath", () => {
  for (const [input, ...expected] of table) {
    it(`the path ${JSON.stringify(input)} is normalised to its form at each level, or refused`, () => {
      const actual = levels.map((at) => normalisePath(input, at) ?? "400");
      expect(actual).to.deep.equal(expected);
    });
  }

  it("path normalisation agrees with an obvious implementation", () => {
    fc.assert(
      fc.property(path, level, (text, at) => {
        expect(normalisePath(text, at)).to.equal(obviousNormalise(text, at));
      }),
      { numRuns: 5000 },
    );
  });

  it("path normalisation agrees with the obvious implementation on arbitrary text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary-ascii", maxLength: 40 }), level, (text, at) => {
        expect(normalisePath(`/${text}`, at)).to.equal(obviousNormalise(`/${text}`, at));
      }),
      { numRuns: 2000 },
    );
  });

  it("path normalisation is idempotent", () => {
    fc.assert(
      fc.property(path, level, (text, at) => {
        const once = normalisePath(text, at);
        if (once !== undefined) expect(normalisePath(once, at)).to.equal(once);
      }),
      { numRuns: 5000 },
    );
  });

  it("a normalised path begins with / and has no dot segment, backslash, or anything that its level forbids", () => {
    fc.assert(
      fc.property(path, level, (text, at) => {
        const result = normalisePath(text, at);
        if (result === undefined) return;
        expect(result.startsWith("/")).to.equal(true);
        expect(result.split("/")).not.to.include.members(["."]);
        expect(result.split("/")).not.to.include.members([".."]);
        expect(result).not.to.include("\\");
        if (at !== "base") expect(result).not.to.include("//");
        if (at === "decode-and-merge-slashes") expect(result).not.to.match(/%2f|%5c/i);
      }),
      { numRuns: 5000 },
    );
  });

  it("the same paths are refused at every level", () => {
    fc.assert(
      fc.property(path, (text) => {
        const refused = levels.map((at) => normalisePath(text, at) === undefined);
        expect(new Set(refused).size).to.equal(1);
      }),
      { numRuns: 2000 },
    );
  });
});
