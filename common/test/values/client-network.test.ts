import { expect } from "chai";
import { networkOf } from "../../src/values/client-network.ts";

describe("networkOf", () => {
  const cases: readonly (readonly [string, string])[] = [
    ["192.0.2.1", "192.0.2.1"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:DB8:1:2::", "2001:db8:1:2::/64"],
    ["2001:db8:0:0:ffff::", "2001:db8:0:0::/64"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["::ffff:192.0.2.2", "192.0.2.2"],
    ["::FFFF:C000:0201", "192.0.2.1"],
    ["64:ff9b::c000:201", "192.0.2.1"],
    ["64:ff9b:1::c000:201", "64:ff9b:1:0::/64"],
    ["", ""],
    ["no:address", "no:address"],
  ];
  for (const [ip, network] of cases) {
    it(`networkOf gives "${network}" for "${ip}"`, () => expect(networkOf(ip)).to.equal(network));
  }
});
