import type { TrustForwardedFor } from "@svc-gateway/common/features/trust-forwarded-for.ts";
import { expect } from "chai";
import { trustForwardedForFilter } from "../../src/filters/trust-forwarded-for.ts";
import { exchange } from "./support.ts";
import { Fields } from "../../src/message/fields.ts";

const proxies = ["192.0.2.0/24", "2001:db8:1::/48"];
const anyPeer: TrustForwardedFor = { header: "X-Forwarded-For" };
const someProxies: TrustForwardedFor = { header: "X-Forwarded-For", trustedCidrs: proxies };

/** The client address that the filter finds in these headers. */
function clientOf(feature: TrustForwardedFor, peer: string, headers: string[]): string {
  const under = exchange({ peer, headers });
  expect(trustForwardedForFilter(feature).onRequest?.(under)).to.equal(undefined);
  return under.clientIp;
}

const forwarded = (...lines: string[]): string[] => lines.flatMap((line) => ["x-forwarded-FOR", line]);

describe("the trust-forwarded-for filter", () => {
  it("trust-forwarded-for: the header is read from peers of the list and from no other one", () => {
    const list = forwarded("203.0.113.5");
    expect(clientOf(someProxies, "192.0.2.1", list)).to.equal("203.0.113.5");
    expect(clientOf(someProxies, "2001:db8:1::9", list)).to.equal("203.0.113.5");
    expect(clientOf(someProxies, "198.51.100.9", list)).to.equal("198.51.100.9");
    expect(clientOf(anyPeer, "198.51.100.9", list)).to.equal("203.0.113.5");
  });

  it("trust-forwarded-for: an IPv4-mapped peer counts as its IPv4 address", () => {
    expect(clientOf(someProxies, "::ffff:192.0.2.1", forwarded("203.0.113.5"))).to.equal("203.0.113.5");
    expect(clientOf(someProxies, "::ffff:198.51.100.9", forwarded("203.0.113.5"))).to.equal("198.51.100.9");
  });

  const lists: readonly [string, readonly string[], string][] = [
    ["the last address is the client", ["203.0.113.5, 203.0.113.6"], "203.0.113.6"],
    ["several lines are joined in order", ["203.0.113.5", "203.0.113.6"], "203.0.113.6"],
    ["trusted proxies in the list are skipped", ["203.0.113.5, 192.0.2.7,2001:db8:1::2"], "203.0.113.5"],
    [
      "private and reserved addresses are skipped",
      ["203.0.113.5, 10.0.0.1, 127.0.0.1, ::1, fe80::1"],
      "203.0.113.5",
    ],
    ["mapped private addresses are skipped", ["203.0.113.5, ::ffff:10.0.0.1"], "203.0.113.5"],
    ["a mapped address is written as IPv4", ["::ffff:203.0.113.5"], "203.0.113.5"],
    ["an address with a port is read", ["203.0.113.5:4711"], "203.0.113.5"],
    ["an IPv6 address without brackets is read", ["2001:DB8::7"], "2001:db8::7"],
    ["an IPv6 address in brackets is read", ["[2001:db8::7]"], "2001:db8::7"],
    ["an IPv6 address in brackets with a port is read", ["[2001:db8::7]:4711"], "2001:db8::7"],
    ["entries before the client are not looked at", ["garbage, 203.0.113.5"], "203.0.113.5"],
  ];
  for (const [what, lines, client] of lists) {
    it(`trust-forwarded-for: ${what}`, () =>
      expect(clientOf(someProxies, "192.0.2.1", forwarded(...lines))).to.equal(client));
  }

  const nothing: readonly string[] = [
    "",
    ",",
    "203.0.113.5,",
    "203.0.113.5, unknown",
    "203.0.113.5, unknown, 10.0.0.1",
    "10.0.0.1, 192.168.0.1",
    "203.0.113.5:",
    "203.0.113.5:123456",
    "[203.0.113.5]",
    "[2001:db8::7",
    "2001:db8::7%eth0",
    "010.0.0.1",
    '"203.0.113.5"',
    "for=203.0.113.5",
    "9".repeat(60_000),
  ];
  for (const list of nothing) {
    it(`trust-forwarded-for: the client is the peer when the header is ${JSON.stringify(list.slice(0, 40))}`, () => {
      expect(clientOf(someProxies, "192.0.2.1", forwarded(list))).to.equal("192.0.2.1");
    });
  }

  it("trust-forwarded-for: the client is searched among the last hundred addresses only", () => {
    const behind = (hops: number): string => `203.0.113.5${", 10.0.0.1".repeat(hops)}`;
    expect(clientOf(someProxies, "192.0.2.1", forwarded(behind(99)))).to.equal("203.0.113.5");
    expect(clientOf(someProxies, "192.0.2.1", forwarded(behind(100)))).to.equal("192.0.2.1");
  });

  it("trust-forwarded-for: the client is the peer when the header is missing", () => {
    expect(clientOf(anyPeer, "192.0.2.1", [])).to.equal("192.0.2.1");
  });

  it("trust-forwarded-for: another header can be named, in any case", () => {
    const headers = ["cf-connecting-ip", "203.0.113.5", "X-Forwarded-For", "203.0.113.6"];
    expect(clientOf({ header: "CF-Connecting-IP" }, "192.0.2.1", headers)).to.equal("203.0.113.5");
  });

  it("trust-forwarded-for: X-Forwarded headers of a trusted peer are passed on, those of another peer are not", () => {
    const received = ["X-Forwarded-For", "203.0.113.5", "X-Forwarded-Proto", "https"];
    const own = ["X-Forwarded-For", "192.0.2.1", "X-Forwarded-Proto", "http", "X-Real-IP", "192.0.2.1"];
    for (const [trustedCidrs, sent] of [
      [proxies, ["203.0.113.5, 192.0.2.1", "https", "203.0.113.5"]],
      [["198.51.100.0/24"], ["192.0.2.1", "http", "192.0.2.1"]],
    ] as const) {
      const under = exchange({ peer: "192.0.2.1", headers: received });
      under.headers = Fields.of([...own]);
      void trustForwardedForFilter({
        header: "X-Forwarded-For",
        trustedCidrs: [...trustedCidrs],
      }).onRequest?.(under);
      expect(under.headers.toList().filter((_, index) => index % 2 === 1)).to.deep.equal(sent);
    }
  });

  it("trust-forwarded-for: a peer without a known address is trusted if all addresses are", () => {
    const everyAddress = (trustedCidrs: string[]): TrustForwardedFor => ({
      ...{ header: "X-Forwarded-For", privateClients: true },
      trustedCidrs,
    });
    const list = forwarded("203.0.113.5, 198.51.100.1");
    expect(clientOf(everyAddress(["0.0.0.0/0", "::/0"]), "<client>", list)).to.equal("203.0.113.5");
    expect(clientOf(everyAddress(["0.0.0.0/0"]), "<client>", list)).to.equal("<client>");
  });

  it("trust-forwarded-for: a client may have a private address where the route says so", () => {
    const inside: TrustForwardedFor = { ...someProxies, privateClients: true };
    const everyone: TrustForwardedFor = { ...anyPeer, privateClients: true };
    const everyAddress: TrustForwardedFor = { ...everyone, trustedCidrs: ["0.0.0.0/0", "::/0"] };
    const cases: readonly [TrustForwardedFor, string, string][] = [
      [inside, "203.0.113.5, 10.0.0.1, 192.0.2.7", "10.0.0.1"],
      [someProxies, "203.0.113.5, 10.0.0.1, 192.0.2.7", "203.0.113.5"],
      [inside, "192.0.2.8, 192.0.2.7", "192.0.2.8"],
      [someProxies, "192.0.2.8, 192.0.2.7", "192.0.2.1"],
      [inside, "unknown, 192.0.2.7", "192.0.2.1"],
      [everyAddress, "203.0.113.5, 198.51.100.1", "203.0.113.5"],
      [everyAddress, "10.0.0.1, 2001:db8::1, 198.51.100.1", "10.0.0.1"],
      [everyone, "203.0.113.5, 10.0.0.1", "203.0.113.5"],
      [everyone, "192.168.1.5, 10.0.0.1", "192.168.1.5"],
    ];
    for (const [feature, list, client] of cases) {
      expect(clientOf(feature, "192.0.2.1", forwarded(list)), list).to.equal(client);
    }
  });

  it("trust-forwarded-for: the scheme of a trusted peer is not forwarded where only its address counts", () => {
    const headers = [...forwarded("203.0.113.5"), "X-Forwarded-Proto", "https"];
    const protoOf = (feature: TrustForwardedFor) => {
      const under = exchange({ peer: "192.0.2.1", headers });
      under.headers = Fields.of(["X-Forwarded-Proto", "http", "X-Forwarded-For", "192.0.2.1"]);
      void trustForwardedForFilter(feature).onRequest?.(under);
      return [under.headers.first("x-forwarded-proto"), under.scheme];
    };
    expect(protoOf(someProxies)).to.deep.equal(["https", "http"]);
    expect(protoOf({ ...someProxies, trustsUrl: false })).to.deep.equal(["http", "http"]);
    expect(protoOf({ ...someProxies, trustsUrl: true })).to.deep.equal(["https", "https"]);
  });
});
