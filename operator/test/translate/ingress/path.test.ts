import { expect } from "chai";
import fc from "fast-check";
import { RegexBudget } from "../../../src/translate/regex-budget.ts";
import { parseIngressPath } from "../../../src/translate/ingress/path.ts";

describe("parseIngressPath", () => {
  const accepted: readonly [string | undefined, string | undefined, string, string][] = [
    ["/", "Prefix", "prefix", "/"],
    ["/foo", "Prefix", "prefix", "/foo"],
    ["/foo/", "Prefix", "prefix", "/foo"],
    ["/foo/", "Exact", "exact", "/foo/"],
    ["/", "Exact", "exact", "/"],
    ["/foo/", "ImplementationSpecific", "prefix", "/foo"],
    ["", "ImplementationSpecific", "prefix", "/"],
    [undefined, "ImplementationSpecific", "prefix", "/"],
    ["/a//b", "ImplementationSpecific", "prefix", "/a//b"],
    ["//a\\\\b/", undefined, "prefix", "//a//b"],
    ["/a//", "ImplementationSpecific", "prefix", "/a"],
    ["//", "ImplementationSpecific", "prefix", "/"],
    [undefined, undefined, "prefix", "/"],
    ["/.well-known/acme-challenge/x_y", "Exact", "exact", "/.well-known/acme-challenge/x_y"],
    ["/a b", "Prefix", "prefix", "/a%20b"],
    ["/%7euser/%41", "Prefix", "prefix", "/~user/A"],
    ["/a%2fb", "Exact", "exact", "/a%2Fb"],
    ["/caf%c3%A9", "Prefix", "prefix", "/caf%C3%A9"],
    ["/caf\u00e9", "Exact", "exact", "/caf%C3%A9"],
    ["/\u017f\u212a", "Exact", "exact", "/%C5%BF%E2%84%AA"],
    ["/100%", "Exact", "exact", "/100%25"],
    ["/a?b#c", "Exact", "exact", "/a%3Fb%23c"],
    ["/a\\b", "Exact", "exact", "/a/b"],
    ["/...", "Exact", "exact", "/..."],
    ["/\ud800", "Exact", "exact", "/%EF%BF%BD"],
  ];
  for (const [path, pathType, type, value] of accepted) {
    it(`parseIngressPath accepts ${pathType ?? "no type"} ${JSON.stringify(path)}`, () => {
      expect(parseIngressPath(path, pathType)).to.deep.equal({ ok: true, value: { type, value } });
    });
  }

  it("parseIngressPath reads ImplementationSpecific paths as regular expressions when given a budget", () => {
    const regex = (value: string) => ({ ok: true, value: { type: "regex", value } });
    expect(parseIngressPath("/a/(b|c)//$", "ImplementationSpecific", new RegexBudget())).to.deep.equal(
      regex("/a/(b|c)//$"),
    );
    expect(parseIngressPath("", undefined, new RegexBudget())).to.deep.equal(regex("/"));
    expect(parseIngressPath("/a.b", "Prefix", new RegexBudget())).to.deep.equal({
      ok: true,
      value: { type: "prefix", value: "/a.b" },
    });
    for (const pattern of ["^/a", "a", "/(", "/(?!a)", `/${"a".repeat(1024)}`]) {
      expect(parseIngressPath(pattern, "ImplementationSpecific", new RegexBudget()).ok, pattern).to.equal(
        false,
      );
    }
  });

  const refused: readonly [string | undefined, string][] = [
    ["", "Prefix"],
    [undefined, "Exact"],
    ["foo", "ImplementationSpecific"],
    ["//", "Prefix"],
    ["/a//b", "Prefix"],
    ["/a//b", "Exact"],
    ["/a//../b", "ImplementationSpecific"],
    ["/a/.", "ImplementationSpecific"],
    ["/a/./b", "Prefix"],
    ["/a/..", "Exact"],
    ["/a/%2E%2e/b", "Exact"],
    ["/a\\..\\b", "Exact"],
    ["/a", "Regex"],
  ];
  for (const [path, pathType] of refused) {
    it(`parseIngressPath rejects ${pathType} ${JSON.stringify(path)}`, () => {
      expect(parseIngressPath(path, pathType).ok).to.equal(false);
    });
  }

  it("parseIngressPath reads its own output as the same path", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary" }),
        fc.constantFrom("Exact", "Prefix", "ImplementationSpecific"),
        (text, type) => {
          const first = parseIngressPath(`/${text}`, type);
          if (!first.ok) return;
          expect(parseIngressPath(first.value.value, type)).to.deep.equal(first);
          expect(first.value.value).to.match(/^\/[!-~]*$/);
        },
      ),
    );
  });
});
