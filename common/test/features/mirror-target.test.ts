import { expect } from "chai";
import { mirrorTargetSchema, parseServiceAddress } from "../../src/features/mirror-target.ts";

describe("mirror-target", () => {
  it("mirror-target: the value is a Service as the cluster names it, with or without a port", () => {
    const address = { namespace: "shop", name: "copy" };
    for (const host of ["copy.shop", "copy.shop.svc", "copy.shop.svc.cluster.local"]) {
      expect(parseServiceAddress(host)).to.deep.equal({ ok: true, value: { ...address, port: undefined } });
      expect(parseServiceAddress(`${host}:8080`)).to.deep.equal({
        ok: true,
        value: { ...address, port: 8080 },
      });
    }
  });

  const wrong = [
    "copy",
    "copy:80",
    "copy.shop:",
    "copy.shop:http",
    "copy.shop:0",
    "copy.shop:65536",
    "copy.shop:80:80",
    "copy.shop.",
    "copy.shop.pod",
    "copy.shop.svc.cluster",
    "copy.shop.svc.cluster.local.",
    "copy.shop.svc.other.org:80",
    ".shop:80",
    "copy..svc",
    "Copy.shop",
    "http://copy.shop",
    "copy.shop/path",
    "copy_.shop",
    `${"x".repeat(64)}.shop`,
    "copy.shop:80\nX: y",
  ];
  for (const value of wrong) {
    it(`mirror-target: rejects ${JSON.stringify(value.slice(0, 40))}`, () => {
      expect(parseServiceAddress(value).ok).to.equal(false);
    });
  }

  it("mirror-target: the fraction in the snapshot must be computable", () => {
    const mirror = { service: "shop/copy", endpoints: "shop/copy/80", protocol: "http1" };
    const accepts = (fraction?: object): boolean =>
      mirrorTargetSchema.safeParse([{ ...mirror, ...(fraction && { fraction }) }]).success;
    expect(accepts()).to.equal(true);
    expect(accepts({ numerator: 0, denominator: 100 })).to.equal(true);
    expect(accepts({ numerator: 1, denominator: 0 })).to.equal(false);
    expect(accepts({ numerator: -1, denominator: 1 })).to.equal(false);
    expect(mirrorTargetSchema.safeParse([]).success).to.equal(false);
  });
});
