import { expect } from "chai";
import fc from "fast-check";
import {
  canonicalIp,
  formatIpPort,
  isPrivateOrReserved,
  isPublicIp,
  parseIpAddress,
} from "../../src/values/ip-address.ts";

describe("canonicalIp", () => {
  const cases: readonly (readonly [string, string | undefined])[] = [
    ["192.0.2.1", "192.0.2.1"],
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["::FFFF:C000:0201", "192.0.2.1"],
    ["2001:DB8:0:0:0:0:0:1", "2001:db8::1"],
    ["2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"],
    ["::", "::"],
    ["fe80::1%eth0", undefined],
    ["010.1.1.1", undefined],
    ["127.1", undefined],
    ["[::1]", undefined],
    ["", undefined],
  ];
  for (const [text, canonical] of cases) {
    it(`canonicalIp turns "${text}" into ${canonical}`, () => expect(canonicalIp(text)).to.equal(canonical));
  }

  it("canonicalIp leaves a canonical address unchanged", () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (ip) => {
        const once = canonicalIp(ip) ?? "";
        expect(canonicalIp(once)).to.equal(once);
      }),
    );
  });
});

describe("parseIpAddress", () => {
  it("parseIpAddress trims its input and says what it expected", () => {
    expect(parseIpAddress(" ::1 ")).to.deep.equal({ ok: true, value: "::1" });
    expect(parseIpAddress("localhost")).to.deep.include({ ok: false });
  });
});

describe("isPrivateOrReserved", () => {
  for (const ip of [
    "10.0.0.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "127.0.0.1",
    "127.255.0.1",
    "169.254.1.1",
    "0.0.0.0",
    "::",
    "::1",
    "fe80::1",
    "febf::1",
    "fc00::1",
    "fdff::1",
  ]) {
    it(`isPrivateOrReserved is true for ${ip}`, () => expect(isPrivateOrReserved(ip)).to.equal(true));
  }
  for (const ip of [
    "11.0.0.1",
    "172.15.255.255",
    "172.32.0.0",
    "192.169.0.0",
    "128.0.0.1",
    "0.0.0.1",
    "100.64.0.1",
    "8.8.8.8",
    "::2",
    "fec0::1",
    "fe00::1",
    "2001:db8::1",
    "",
  ]) {
    it(`isPrivateOrReserved is false for "${ip}"`, () => expect(isPrivateOrReserved(ip)).to.equal(false));
  }
});

describe("isPublicIp", () => {
  for (const ip of ["8.8.8.8", "2606:4700::1111"]) {
    it(`isPublicIp is true for ${ip}`, () => expect(isPublicIp(ip)).to.equal(true));
  }
  const special = [
    "10.0.0.1",
    "127.0.0.1",
    "169.254.169.254",
    "100.64.0.1",
    "0.0.0.0",
    "224.0.0.1",
    "255.255.255.255",
  ];
  for (const ip of [
    ...special,
    "::1",
    "::",
    "fd00::1",
    "fe80::1",
    "ff02::1",
    "64:ff9b::a00:1",
    "2002:a00:1::",
  ]) {
    it(`isPublicIp is false for ${ip}`, () => expect(isPublicIp(ip)).to.equal(false));
  }
});

describe("formatIpPort", () => {
  it("formatIpPort puts IPv6 addresses in brackets", () => {
    expect([formatIpPort("192.0.2.1", 80), formatIpPort("::1", 8080)]).to.deep.equal([
      "192.0.2.1:80",
      "[::1]:8080",
    ]);
  });
});
