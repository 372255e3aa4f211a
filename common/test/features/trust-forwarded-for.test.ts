import { expect } from "chai";
import { parseTrustedCidrs, trustForwardedForSchema } from "../../src/features/trust-forwarded-for.ts";

const read = (text: string) => {
  const warnings: string[] = [];
  return { result: parseTrustedCidrs(text, (message) => warnings.push(message)), warnings };
};

describe("trust-forwarded-for", () => {
  it("trust-forwarded-for: ranges and bare addresses are read into canonical form", () => {
    expect(read(" 10.1.2.3/8 ,, 192.0.2.7, 2001:DB8::1/32 ")).to.deep.equal({
      result: { ok: true, value: ["10.0.0.0/8", "192.0.2.7/32", "2001:db8::/32"] },
      warnings: [],
    });
  });

  it("trust-forwarded-for: an entry that is not a range is left out with a warning", () => {
    expect(read("10.0.0.0/8,proxy,10.0.0.0/33")).to.deep.equal({
      result: { ok: true, value: ["10.0.0.0/8"] },
      warnings: ['"proxy" is not a CIDR and is left out', '"10.0.0.0/33" is not a CIDR and is left out'],
    });
  });

  for (const text of [",", "proxy", "a,b", "1.2.3.4/"]) {
    it(`trust-forwarded-for: rejects a list without any range: ${text}`, () =>
      expect(read(text).result.ok).to.equal(false));
  }

  it("trust-forwarded-for: the snapshot accepts ranges only", () => {
    const header = "X-Forwarded-For";
    expect(trustForwardedForSchema.safeParse({ header }).success).to.equal(true);
    expect(trustForwardedForSchema.safeParse({ header, trustedCidrs: ["10.0.0.0/8"] }).success).to.equal(
      true,
    );
    expect(trustForwardedForSchema.safeParse({ header, trustedCidrs: ["proxy"] }).success).to.equal(false);
    expect(trustForwardedForSchema.safeParse({ header, trustedCidrs: [] }).success).to.equal(false);
  });
});
