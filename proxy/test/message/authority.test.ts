import { expect } from "chai";
import { addressAsReceived, hostOf, parseRequestAddress } from "../../src/message/authority.ts";
import { Fields } from "../../src/message/fields.ts";
import type { HttpVersion, RequestHead } from "../../src/message/message.ts";

type Given = Partial<RequestHead> & { readonly target: string };

const head = (given: Given): RequestHead => ({
  version: "1.1",
  method: "GET",
  authority: undefined,
  scheme: undefined,
  headers: Fields.of([]),
  ...given,
});

describe("parseRequestAddress", () => {
  const accepted: readonly [string, Given, { host: string; authority: string; target: string }][] = [
    [
      "origin form",
      { target: "/a?b", headers: Fields.of(["Host", "A.Example.com:8080"]) },
      { host: "a.example.com", authority: "A.Example.com:8080", target: "/a?b" },
    ],
    [
      "a trailing dot",
      { target: "/", headers: Fields.of(["hOsT", "a.example."]) },
      { host: "a.example", authority: "a.example.", target: "/" },
    ],
    [
      "absolute form with the same Host",
      { target: "http://a.example/x?y", headers: Fields.of(["Host", "a.example"]) },
      { host: "a.example", authority: "a.example", target: "/x?y" },
    ],
    [
      "absolute form with the default port spelled out",
      { target: "HTTP://A.example:80?y", headers: Fields.of(["Host", "a.example"]) },
      { host: "a.example", authority: "A.example:80", target: "/?y" },
    ],
    ["no Host in HTTP/1.0", { target: "/", version: "1.0" }, { host: "", authority: "", target: "/" }],
    [
      "an IPv6 literal",
      { target: "/", headers: Fields.of(["Host", "[2001:DB8::1]:81"]) },
      { host: "[2001:db8::1]", authority: "[2001:DB8::1]:81", target: "/" },
    ],
    [
      "an IPv6 literal without a port",
      { target: "/", headers: Fields.of(["Host", "[::1]"]) },
      { host: "[::1]", authority: "[::1]", target: "/" },
    ],
    [
      "the asterisk of OPTIONS",
      { target: "*", method: "OPTIONS", headers: Fields.of(["Host", "a"]) },
      { host: "a", authority: "a", target: "*" },
    ],
    [
      "HTTP/2 :authority",
      { version: "2.0", authority: "a.example", scheme: "https", target: "/" },
      { host: "a.example", authority: "a.example", target: "/" },
    ],
    [
      "HTTP/2 with Host only",
      { version: "2.0", target: "/", headers: Fields.of(["host", "a.example"]) },
      { host: "a.example", authority: "a.example", target: "/" },
    ],
    [
      "HTTP/2 with equal Host",
      {
        version: "2.0",
        authority: "a.example",
        scheme: "https",
        target: "/",
        headers: Fields.of(["host", "a.example:443"]),
      },
      { host: "a.example", authority: "a.example", target: "/" },
    ],
  ];
  for (const [name, given, expected] of accepted) {
    it(`a request address with ${name} is accepted`, () => {
      expect(parseRequestAddress(head(given))).to.deep.equal({ ok: true, value: expected });
    });
  }

  const refused: readonly [string, Given][] = [
    ["a missing Host", { target: "/" }],
    ["an empty Host", { target: "/", headers: Fields.of(["Host", ""]) }],
    ["two Host fields", { target: "/", headers: Fields.of(["Host", "a", "host", "a"]) }],
    [
      "a Host that differs from the absolute form",
      { target: "http://b/", headers: Fields.of(["Host", "a"]) },
    ],
    ["userinfo in the absolute form", { target: "http://u@a/", headers: Fields.of(["Host", "a"]) }],
    ["userinfo in Host", { target: "/", headers: Fields.of(["Host", "u@a"]) }],
    ["another scheme", { target: "ftp://a/", headers: Fields.of(["Host", "a"]) }],
    ["a relative target", { target: "a", headers: Fields.of(["Host", "a"]) }],
    ["the asterisk of GET", { target: "*", headers: Fields.of(["Host", "a"]) }],
    ["a path in Host", { target: "/", headers: Fields.of(["Host", "a/b"]) }],
    ["a list in Host", { target: "/", headers: Fields.of(["Host", "a,b"]) }],
    ["a port out of range", { target: "/", headers: Fields.of(["Host", "a:65536"]) }],
    ["a port that is no number", { target: "/", headers: Fields.of(["Host", "a:8o"]) }],
    ["HTTP/2 without authority", { version: "2.0", target: "/" }],
    [
      "HTTP/2 Host that differs",
      { version: "2.0", authority: "a", target: "/", headers: Fields.of(["host", "b"]) },
    ],
    ["HTTP/2 absolute form", { version: "2.0", authority: "a", target: "http://a/" }],
    ["an HTTP/2 scheme that is not ours", { version: "2.0", authority: "a", scheme: "ws", target: "/" }],
  ];
  for (const [name, given] of refused) {
    it(`a request address with ${name} is refused`, () => {
      expect(parseRequestAddress(head(given))).to.have.property("ok", false);
    });
  }

  it("a known host is taken for the same Host alone, and not for an absolute target or several Hosts", () => {
    const known = { authority: "a.example:80", host: "a.example" };
    const hostOfRequest = (target: string, ...headers: string[]) => {
      const result = parseRequestAddress(head({ target, headers: Fields.of(headers) }), known);
      return result.ok ? result.value : undefined;
    };
    expect(hostOfRequest("/x", "Host", "a.example:80")).to.deep.equal({ ...known, target: "/x" });
    expect(hostOfRequest("/x", "Host", "b.example")).to.deep.include({ host: "b.example" });
    expect(hostOfRequest("/x")).to.equal(undefined);
    expect(hostOfRequest("/x", "Host", "a.example:80", "Host", "a.example:80")).to.equal(undefined);
    expect(hostOfRequest("http://b.example/x", "Host", "a.example:80")).to.equal(undefined);
    expect(hostOfRequest("x", "Host", "a.example:80")).to.equal(undefined);
  });

  it("HTTP/1.0 and HTTP/1.1 requests with a Host are routed alike", () => {
    for (const version of ["1.0", "1.1"] satisfies HttpVersion[]) {
      const result = parseRequestAddress(head({ target: "/", version, headers: Fields.of(["Host", "a"]) }));
      expect(result).to.have.nested.property("value.host", "a");
    }
  });
});

describe("hostOf", () => {
  it("a host with a character that no host contains is refused", () => {
    for (const text of ["", ".", "a b", "a\u0000", "ä.example", "a%41", "[", "[::1", "[::1]x", "[g::]"]) {
      expect(hostOf(text), JSON.stringify(text)).to.equal(undefined);
    }
  });

  it("a host name over 255 characters is refused", () => {
    expect(hostOf("a".repeat(255))).to.equal("a".repeat(255));
    expect(hostOf("a".repeat(256))).to.equal(undefined);
  });
});

describe("addressAsReceived", () => {
  const cases: readonly [string, Given, { authority: string; path: string }][] = [
    ["the path without the query", { target: "/a?token=x" }, { authority: "", path: "/a" }],
    ["no path of another form", { target: "http://u:p@a.example/" }, { authority: "", path: "" }],
    [
      "a host without userinfo",
      { target: "/", headers: Fields.of(["Host", "user:p@ss@a.example:81"]) },
      { authority: "a.example:81", path: "/" },
    ],
    [
      ":authority without userinfo",
      { version: "2.0", authority: "user:pass@a.example", target: "/" },
      { authority: "a.example", path: "/" },
    ],
    [
      "both of two hosts",
      { target: "*", headers: Fields.of(["Host", "a.example", "Host", "b.example"]) },
      { authority: "a.example, b.example", path: "*" },
    ],
  ];
  for (const [name, given, expected] of cases) {
    it(`the access log gets ${name}`, () => {
      expect(addressAsReceived(head(given))).to.deep.equal(expected);
    });
  }
});
