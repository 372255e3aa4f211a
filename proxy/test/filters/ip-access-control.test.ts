import type { IpAccessControl } from "@svc-gateway/common/features/ip-access-control.ts";
import { expect } from "chai";
import type { LocalReply } from "../../src/message/local-reply.ts";
import { ipAccessControlFilter } from "../../src/filters/ip-access-control.ts";
import { exchange } from "./support.ts";

/** Whether the filter refuses an address for its deny list alone. */
const isDenied = ({ deny }: IpAccessControl, clientIp: string): boolean => {
  const under = exchange();
  under.clientIp = clientIp;
  return ipAccessControlFilter({ deny }).onRequest?.(under) !== undefined;
};

const letsIn = (feature: IpAccessControl, clientIp: string): boolean => {
  const under = exchange();
  under.clientIp = clientIp;
  const reply = ipAccessControlFilter(feature).onRequest?.(under);
  if (reply === undefined) return true;
  const reason =
    feature.deny.length > 0 && isDenied(feature, clientIp) ? "address-denied" : "address-not-allowed";
  expect(reply).to.deep.include({ status: 403, error: "client address not allowed", reason });
  return false;
};

describe("the ip-access-control filter", () => {
  it("ip-access-control: every request gets 503 where the list of addresses cannot be read", () => {
    const { onRequest } = ipAccessControlFilter({ unavailable: true, deny: [], allow: ["0.0.0.0/0"] });
    expect(onRequest?.(exchange())).to.deep.equal({
      status: 503,
      error: "list of client addresses unavailable",
    });
  });

  it("ip-access-control: a blocked address is rejected even if it is allowed, and the log names the range", () => {
    const feature: IpAccessControl = {
      name: "shop/office",
      blocked: ["10.1.0.0/16"],
      deny: [],
      allow: ["10.0.0.0/8"],
    };
    const under = exchange();
    under.clientIp = "10.1.2.3";
    expect(ipAccessControlFilter(feature).onRequest?.(under)).to.deep.equal({
      status: 403,
      error: "client address not allowed",
      reason: "address-denied",
      detail: "blocked range 10.1.0.0/16",
    });
    expect(letsIn(feature, "10.2.0.1")).to.equal(true);
    expect(letsIn(feature, "192.0.2.1")).to.equal(false);
  });

  it("ip-access-control: the log learns the narrowest range that denied the address, and the client does not", () => {
    const feature: IpAccessControl = {
      deny: ["10.0.0.0/8", "10.1.0.0/16", "2001:db8::/32"],
      allow: ["::/0"],
    };
    const detailOf = (clientIp: string): unknown => {
      const under = exchange();
      under.clientIp = clientIp;
      const reply = ipAccessControlFilter(feature).onRequest?.(under) as LocalReply | undefined;
      expect(reply?.body).to.equal(undefined);
      return reply?.detail;
    };
    expect(detailOf("10.1.2.3")).to.equal("denied range 10.1.0.0/16");
    expect(detailOf("10.2.0.1")).to.equal("denied range 10.0.0.0/8");
    expect(detailOf("2001:db8::7")).to.equal("denied range 2001:db8::/32");
    expect(detailOf("192.0.2.1")).to.equal("in none of 1 allowed ranges");
  });

  it("ip-access-control: the access log names the resource whose ranges refused the address", () => {
    const under = exchange();
    under.clientIp = "10.1.2.3";
    const denying = ipAccessControlFilter({ name: "shop/office", deny: ["10.0.0.0/8"] });
    expect(denying.onRequest?.(under)).to.deep.include({ detail: "shop/office: denied range 10.0.0.0/8" });
    const allowing = ipAccessControlFilter({ name: "shop/office", deny: [], allow: ["192.0.2.0/24"] });
    expect(allowing.onRequest?.(under)).to.deep.include({
      detail: "shop/office: in none of 1 allowed ranges",
    });
  });

  const office: IpAccessControl = { deny: ["10.0.0.9/32"], allow: ["10.0.0.0/8", "2001:db8::/32"] };
  const cases: readonly [string, IpAccessControl, string, boolean][] = [
    ["an address inside allow", office, "10.1.2.3", true],
    ["an IPv6 address inside allow", office, "2001:db8::7", true],
    ["an address outside allow", office, "11.0.0.1", false],
    ["an address inside deny and allow", office, "10.0.0.9", false],
    ["an address outside deny, without allow,", { deny: ["10.0.0.0/8"] }, "11.0.0.1", true],
    ["an address inside deny, without allow,", { deny: ["10.0.0.0/8"] }, "10.0.0.1", false],
    ["an address without any list", { deny: [] }, "10.0.0.1", true],
    ["an address against an empty allow list", { deny: [], allow: [] }, "10.0.0.1", false],
    ["a mapped address of an IPv4 range in allow", office, "::ffff:10.1.2.3", false],
    ["a mapped address of an IPv4 range in deny", { deny: ["10.0.0.0/8"] }, "::ffff:10.1.2.3", true],
    ["an unknown address against allow", office, "", false],
    ["an unknown address against deny", { deny: ["0.0.0.0/0", "::/0"] }, "", true],
  ];
  for (const [what, feature, clientIp, expected] of cases) {
    it(`ip-access-control: ${what} is ${expected ? "let in" : "refused"}`, () =>
      expect(letsIn(feature, clientIp)).to.equal(expected));
  }
});
