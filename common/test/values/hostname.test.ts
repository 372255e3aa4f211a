import { expect } from "chai";
import fc from "fast-check";
import { formatHostname, parseDnsName, parseHostname } from "../../src/values/hostname.ts";

const label = fc.stringMatching(/^[a-z]([a-z0-9-]{0,20}[a-z0-9])?$/);
const dnsName = fc.array(label, { minLength: 1, maxLength: 5 }).map((labels) => labels.join("."));

describe("parseDnsName", () => {
  it("a wildcard is offered in the expected form only where one is allowed", () => {
    const expectedBy = (read: typeof parseDnsName | typeof parseHostname): string | undefined => {
      const result = read("-a.com");
      return result.ok ? undefined : result.error.expected;
    };
    expect(expectedBy(parseDnsName)).to.equal('a DNS name such as "example.com"');
    expect(expectedBy(parseHostname)).to.equal('a DNS name such as "example.com" or "*.example.com"');
  });
});

describe("parseHostname", () => {
  it("parseHostname reads exact and wildcard names in any case, with or without a trailing dot", () => {
    expect(parseHostname("Shop.Example.COM.")).to.deep.equal({
      ok: true,
      value: { kind: "exact", name: "shop.example.com" },
    });
    expect(parseHostname(" *.Example.com ")).to.deep.equal({
      ok: true,
      value: { kind: "wildcard", name: "example.com" },
    });
    expect(parseHostname("localhost").ok).to.equal(true);
    expect(parseHostname("1.example").ok).to.equal(true);
  });

  const label63 = "a".repeat(63);
  for (const text of [
    "",
    ".",
    "*",
    "*.",
    "*.*.com",
    "a.*.com",
    "*a.com",
    "-a.com",
    "a-.com",
    "a_b.com",
    "a..com",
    ".a.com",
    "a.com..",
    "a b.com",
    "a.com:80",
    "192.0.2.1",
    "*.192.0.2.1",
    "::1",
    "münchen.de",
    `${label63}a.com`,
    `${`${label63}.`.repeat(4)}a`,
  ]) {
    it(`parseHostname rejects "${text.slice(0, 40)}"`, () => expect(parseHostname(text).ok).to.equal(false));
  }

  it("parseHostname accepts labels of 63 and names of 253 characters", () => {
    const longest = `${`${label63}.`.repeat(3)}${"a".repeat(61)}`;
    expect(longest).to.have.length(253);
    expect(parseHostname(longest).ok).to.equal(true);
    expect(parseHostname(`${longest}a`).ok).to.equal(false);
  });

  it("parseHostname reads back what formatHostname writes", () => {
    fc.assert(
      fc.property(dnsName, fc.boolean(), (name, isWildcard) => {
        const hostname = { kind: isWildcard ? "wildcard" : "exact", name } as const;
        expect(parseHostname(formatHostname(hostname))).to.deep.equal({ ok: true, value: hostname });
      }),
    );
  });
});

describe("parseDnsName", () => {
  it("parseDnsName rejects a wildcard", () => {
    expect(parseDnsName("*.example.com").ok).to.equal(false);
    expect(parseDnsName("Example.com")).to.deep.equal({ ok: true, value: "example.com" });
  });
});
