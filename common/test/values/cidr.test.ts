import { expect } from "chai";
import fc from "fast-check";
import ipaddr from "ipaddr.js";
import {
  compileCidrs,
  compileCidrSearch,
  formatCidr,
  parseCidr,
  readCidrs,
  type Cidr,
} from "../../src/values/cidr.ts";

const cidr = (text: string): Cidr => {
  const parsed = parseCidr(text);
  if (!parsed.ok) throw new Error(parsed.error.message);
  return parsed.value;
};
const matcher = (...texts: string[]) => compileCidrs(texts.map(cidr));

const v4 = fc.ipV4();
const v6 = fc.ipV6().filter((text) => !text.includes("."));

describe("parseCidr", () => {
  const canonical: readonly (readonly [string, string])[] = [
    ["10.1.2.3/8", "10.0.0.0/8"],
    ["192.0.2.1", "192.0.2.1/32"],
    ["0.0.0.0/0", "0.0.0.0/0"],
    [" 10.0.0.0/8 ", "10.0.0.0/8"],
    ["2001:DB8::1/32", "2001:db8::/32"],
    ["::1", "::1/128"],
    ["::/0", "::/0"],
    ["::ffff:192.0.2.1", "::ffff:c000:201/128"],
  ];
  for (const [text, written] of canonical) {
    it(`parseCidr reads "${text}" as ${written}`, () => expect(formatCidr(cidr(text))).to.equal(written));
  }

  for (const text of [
    "",
    "10.0.0.0/33",
    "10.0.0/8",
    "010.0.0.1",
    "10.0.0.0/",
    "10.0.0.0/-1",
    "10.0.0.0/8/8",
    "10.0.0.0/8x",
    "256.1.1.1",
    "0x0a.1.1.1",
    "::1/129",
    "fe80::1%eth0",
    "1::2::3",
    "example.com",
  ]) {
    it(`parseCidr rejects "${text}"`, () => expect(parseCidr(text).ok).to.equal(false));
  }

  it("parseCidr reads back what formatCidr writes", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.tuple(v4, fc.nat(32)), fc.tuple(v6, fc.nat(128))),
        ([address, prefixLength]) => {
          const once = cidr(`${address}/${prefixLength}`);
          expect(cidr(formatCidr(once))).to.deep.equal(once);
        },
      ),
    );
  });
});

describe("compileCidrs", () => {
  it("a compiled IPv4 range contains both of its ends and nothing beside them", () => {
    const { contains } = matcher("192.0.2.64/26");
    expect(["192.0.2.63", "192.0.2.64", "192.0.2.127", "192.0.2.128"].map(contains)).to.deep.equal([
      false,
      true,
      true,
      false,
    ]);
  });

  it("a compiled IPv6 range contains both of its ends and nothing beside them", () => {
    const { contains } = matcher("2001:db8:0:8000::/49");
    expect(
      [
        "2001:db8:0:7fff:ffff::",
        "2001:db8:0:8000::",
        "2001:db8:0:ffff:ffff:ffff:ffff:ffff",
        "2001:db8:1::",
      ].map(contains),
    ).to.deep.equal([false, true, true, false]);
  });

  it("IPv4 and IPv6 ranges are separate, also for IPv4-mapped addresses", () => {
    const everyV4 = matcher("0.0.0.0/0");
    expect(["::ffff:192.0.2.1", "::", "::c000:201"].map((ip) => everyV4.contains(ip))).to.deep.equal([
      false,
      false,
      false,
    ]);
    expect(matcher("::/0").contains("192.0.2.1")).to.equal(false);
    expect(matcher("::ffff:192.0.2.0/120").contains("::ffff:192.0.2.9")).to.equal(true);
  });

  it("text that is not an address is in no range", () => {
    const all = matcher("0.0.0.0/0", "::/0");
    for (const text of [
      "",
      "1.2.3",
      "1.2.3.4.5",
      "1.2.3.",
      ".1.2.3",
      "01.2.3.4",
      "1.2.3.256",
      "1..2.3",
      "a.b.c.d",
      "::1%lo",
      "1.2.3.4 ",
    ])
      expect(all.contains(text), text).to.equal(false);
  });

  it("a matcher without ranges is empty", () => {
    expect(compileCidrs([]).isEmpty).to.equal(true);
    expect(compileCidrs([]).contains("10.0.0.1")).to.equal(false);
    expect(matcher("10.0.0.0/8").isEmpty).to.equal(false);
  });

  it("a compiled list gives the same answers as testing each range", () => {
    const range = fc.oneof(
      fc.tuple(v4, fc.integer({ min: 0, max: 32 })),
      fc.tuple(v6, fc.integer({ min: 0, max: 128 })),
    );
    fc.assert(
      fc.property(fc.array(range, { maxLength: 12 }), fc.oneof(v4, v6), (ranges, ip) => {
        const address = ipaddr.parse(ip);
        const expected = ranges.some(([network, bits]) => {
          const other = ipaddr.parse(network);
          return other.kind() === address.kind() && address.match(other as never, bits as never);
        });
        expect(matcher(...ranges.map(([network, bits]) => `${network}/${bits}`)).contains(ip)).to.equal(
          expected,
        );
      }),
      { numRuns: 500 },
    );
  });

  it("the neighbours of overlapping and adjacent ranges are matched correctly", () => {
    const near = fc.nat(255).map((low) => `10.0.0.${low}`);
    fc.assert(
      fc.property(
        fc.array(fc.tuple(near, fc.integer({ min: 24, max: 32 })), { minLength: 1, maxLength: 8 }),
        near,
        (ranges, ip) => {
          const expected = ranges.some(([network, bits]) =>
            ipaddr.IPv4.parse(ip).match(ipaddr.IPv4.parse(network), bits),
          );
          expect(matcher(...ranges.map(([network, bits]) => `${network}/${bits}`)).contains(ip)).to.equal(
            expected,
          );
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe("compileCidrSearch", () => {
  const ranges = ["10.0.0.0/8", "10.1.0.0/16", "0.0.0.0/0", "2001:db8::/32", "2001:db8::7/128"];
  const find = compileCidrSearch(readCidrs(ranges).cidrs);

  it("the search gives the narrowest range of the address's own family", () => {
    const found = ["10.1.2.3", "10.2.0.1", "192.0.2.1", "2001:db8::7", "2001:db8::8"].map((ip) => {
      const range = find(ip);
      return range && formatCidr(range);
    });
    expect(found).to.deep.equal([
      "10.1.0.0/16",
      "10.0.0.0/8",
      "0.0.0.0/0",
      "2001:db8::7/128",
      "2001:db8::/32",
    ]);
    expect([find("2001:db9::1"), find("::ffff:10.1.2.3"), find("x")]).to.deep.equal([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("the search finds a range exactly where the compiled ranges contain the address", () => {
    const near = fc.nat(255).map((low) => `10.0.0.${low}`);
    const list = fc.array(fc.tuple(near, fc.integer({ min: 20, max: 32 })), { maxLength: 6 });
    fc.assert(
      fc.property(list, near, (pairs, ip) => {
        const { cidrs } = readCidrs(pairs.map(([network, bits]) => `${network}/${bits}`));
        expect(compileCidrSearch(cidrs)(ip) !== undefined).to.equal(compileCidrs(cidrs).contains(ip));
      }),
    );
  });
});

describe("readCidrs", () => {
  it("readCidrs keeps the ranges and returns the rejected texts, cut to a length fit for a message", () => {
    const { cidrs, refused } = readCidrs(["10.0.0.0/8", "x".repeat(1000), "::1"]);
    expect(cidrs.map(formatCidr)).to.deep.equal(["10.0.0.0/8", "::1/128"]);
    expect(refused).to.deep.equal([`${"x".repeat(54)}...${"x".repeat(26)}`]);
  });
});
