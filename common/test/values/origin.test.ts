import { expect } from "chai";
import fc from "fast-check";
import { compileOrigins, parseOrigin, parseOriginPattern } from "../../src/values/origin.ts";

describe("parseOrigin", () => {
  for (const [text, scheme, host, port] of [
    ["https://a.example", "https", "a.example", 443],
    ["http://a.example", "http", "a.example", 80],
    ["https://a.example:443", "https", "a.example", 443],
    ["http://a.example:443", "http", "a.example", 443],
    ["HTTPS://A.Example:8443", "https", "a.example", 8443],
    ["https://localhost", "https", "localhost", 443],
    ["https://xn--bcher-kva.example", "https", "xn--bcher-kva.example", 443],
    ["https://a_b.example", "https", "a_b.example", 443],
    ["https://a.example.", "https", "a.example.", 443],
    ["http://192.0.2.1:3000", "http", "192.0.2.1", 3000],
    ["http://[::1]", "http", "[::1]", 80],
    ["http://[2001:DB8:0:0:0:0:0:1]:8080", "http", "[2001:db8::1]", 8080],
    ["https://a.example:65535", "https", "a.example", 65_535],
  ] as const) {
    it(`parseOrigin reads ${text}`, () => expect(parseOrigin(text)).to.deep.equal({ scheme, host, port }));
  }

  for (const text of [
    ...["", "null", "*", "a.example", "//a.example", "https:a.example", "https:/a.example", "https://"],
    ...[
      "https://:443",
      "https://a.example/",
      "https://a.example/x",
      "https://a.example?x",
      "https://a.example#x",
    ],
    ...["https://user@a.example", "https://user:pw@a.example", "https://a.example:443@b.example"],
    ...[
      "https://a.example\\b.example",
      "https://a.example b.example",
      " https://a.example",
      "https://a.example ",
    ],
    ...["https://a.example,https://b.example", "https://a.example, https://b.example"],
    ...["https://a.example:", "https://a.example:x", "https://a.example:65536", "https://a.example:-1"],
    ...[
      "https://a..example",
      "https://.example",
      "https://a.example..",
      "https://*.example",
      "https://a%2eexample",
    ],
    ...[
      "http://::1",
      "http://[::1",
      "http://[::1]x",
      "http://[fe80::1%eth0]",
      "http://[1.2.3.4]",
      "http://[]",
    ],
    ...[
      "ftp://a.example",
      "javascript://a.example",
      "file://",
      "https://a.example\n",
      "https://bücher.example",
    ],
    `https://${"a".repeat(254)}`,
    `https://${"a.".repeat(200)}example`,
  ]) {
    it(`parseOrigin rejects ${JSON.stringify(text.slice(0, 60))}`, () =>
      expect(parseOrigin(text)).to.equal(undefined));
  }

  it("parseOrigin agrees with the URL standard", () => {
    const host = fc.oneof(
      fc.domain(),
      fc.ipV4(),
      fc.ipV6().map((ip) => `[${ip}]`),
      fc.constant("localhost"),
    );
    const part = fc.constantFrom(
      "",
      "/",
      ":",
      "@",
      "?",
      "#",
      ".",
      "..",
      "%2e",
      " ",
      "\\",
      "*",
      "a",
      ":80",
      ":443",
      ":8080",
    );
    fc.assert(
      fc.property(
        fc.constantFrom("http://", "https://", "HTTP://"),
        part,
        host,
        part,
        part,
        (scheme, ...parts) => {
          const text = scheme + parts.join("");
          const origin = parseOrigin(text);
          if (origin === undefined) return;
          const url = new URL(text);
          const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
          expect([`${origin.scheme}:`, origin.port]).to.deep.equal([url.protocol, port]);
          expect(url.pathname + url.search + url.hash + url.username + url.password).to.equal("/");
          // IPv4-mapped addresses have several forms; every other host has that of the standard.
          if (!origin.host.includes("ffff:")) expect(origin.host).to.equal(url.hostname);
        },
      ),
    );
  });

  it("parseOrigin reads every origin that a browser writes", () => {
    fc.assert(
      fc.property(fc.webUrl({ withFragments: true, withQueryParameters: true }), (text) => {
        const url = new URL(text);
        expect(parseOrigin(url.origin)?.host).to.equal(url.hostname);
      }),
    );
  });
});

describe("parseOriginPattern", () => {
  for (const [text, host] of [
    ["https://a.example", "a.example"],
    ["https://*.a.example", { suffix: ".a.example" }],
    ["https://*", { suffix: "" }],
  ] as const) {
    it(`parseOriginPattern reads ${text}`, () =>
      expect(parseOriginPattern(text)).to.deep.equal({
        ok: true,
        value: { scheme: "https", port: 443, host },
      }));
  }

  for (const text of [
    ...[
      "*",
      "https://a*.example",
      "https://*a.example",
      "https://a.*.example",
      "https://*.*.example",
      "*://a.example",
    ],
    ...[
      "https://*.a.example/",
      "https://*.a.example:99999",
      "https://*.",
      "https://*..example",
      "https://*@a.example",
    ],
    ...["https://*:", "null", "https://x/://*.example", "https://*://*"],
  ]) {
    it(`parseOriginPattern rejects ${text}`, () => expect(parseOriginPattern(text).ok).to.equal(false));
  }
});

describe("a compiled list of origins", () => {
  const patterns = [
    ...["https://a.example", "http://b.example:8080", "https://*.c.example", "http://*.d.example:8080"],
    ...["http://*:3000", "https://*.0.0.1", "http://[::1]:99", "https://e.example:0443", "not an origin"],
  ];
  const isListed = compileOrigins(patterns);
  const isAllowed = (text: string): boolean => {
    const origin = parseOrigin(text);
    return origin !== undefined && isListed(origin);
  };

  for (const text of [
    ...["https://a.example", "https://A.EXAMPLE:443", "http://b.example:8080", "https://x.c.example"],
    ...[
      "https://x.y.c.example:443",
      "http://x.d.example:8080",
      "http://any:3000",
      "http://[2001:db8::1]:3000",
    ],
    ...["http://192.0.2.1:3000", "http://[0:0:0:0:0:0:0:1]:99", "https://e.example"],
  ]) {
    it(`a compiled list of origins has ${text}`, () => expect(isAllowed(text)).to.equal(true));
  }

  for (const text of [
    ...["http://a.example", "https://a.example:80", "https://a.example.", "https://a.example.evil.example"],
    ...[
      "https://evila.example",
      "http://b.example",
      "https://c.example",
      "https://evilc.example",
      "https://.c.example",
    ],
    ...["https://x.c.example.", "https://x.c.example:444", "https://evil.example/.c.example"],
    ...[
      "https://evil.example?.c.example",
      "https://evil.example#.c.example",
      "https://evil.example:443@x.c.example",
    ],
    ...["https://evil.example\\.c.example", "https://*.c.example", "https://127.0.0.1", "http://any:30001"],
    ...["http://x.d.example", "not an origin", "null"],
  ]) {
    it(`a compiled list of origins does not have ${text}`, () => expect(isAllowed(text)).to.equal(false));
  }
});
