import { expect } from "chai";
import { isNodeLocal, reachableIps } from "../../src/values/reachable-ip.ts";

describe("reachableIps", () => {
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ["10.0.0.7", ["10.0.0.7"]],
    ["::ffff:10.0.0.7", ["10.0.0.7"]],
    ["::FFFF:0A00:0007", ["10.0.0.7"]],
    ["::10.0.0.7", ["10.0.0.7"]],
    ["::a00:7", ["::a00:7", "10.0.0.7"]],
    ["64:ff9b::10.0.0.7", ["64:ff9b::a00:7", "10.0.0.7"]],
    ["64:ff9b:1::10.0.0.7", ["64:ff9b:1::a00:7"]],
    ["2001:DB8::0:1", ["2001:db8::1"]],
    ["fe80::1%eth0", ["fe80::1"]],
    ["example.com", []],
    ["127.1", []],
    ["", []],
  ];
  for (const [text, ips] of cases) {
    it(`reachableIps finds ${ips.join(" and ") || "no address"} in "${text}"`, () =>
      expect(reachableIps(text)).to.deep.equal(ips));
  }
});

describe("isNodeLocal", () => {
  it("isNodeLocal is true for addresses that never leave a host or its link", () => {
    for (const ip of ["127.0.0.1", "127.9.9.9", "0.0.0.0", "0.0.0.1", "169.254.1.1", "::", "::1", "fe80::1"])
      expect(isNodeLocal(ip), ip).to.equal(true);
    for (const ip of ["10.0.0.1", "192.168.1.1", "203.0.113.1", "fd00::1", "2001:db8::1"])
      expect(isNodeLocal(ip), ip).to.equal(false);
  });
});
