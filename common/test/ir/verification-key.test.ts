import { expect } from "chai";
import { refuseKey } from "../../src/ir/verification-key.ts";

/** An odd number with this number of bits. */
const number = (bits: number, leadingZeros = 0): string => {
  const bytes = Buffer.alloc(leadingZeros + Math.ceil(bits / 8), 0xff);
  bytes.fill(0, 0, leadingZeros);
  bytes[leadingZeros] = 0xff >> ((8 - (bits % 8)) % 8);
  return bytes.toString("base64url");
};
const even = (bits: number): string => {
  const bytes = Buffer.from(number(bits), "base64url");
  bytes[bytes.length - 1] = 0xfe;
  return bytes.toString("base64url");
};

describe("refuseKey", () => {
  const rsa = (n: string, e = "AQAB") => refuseKey({ kty: "RSA", alg: "RS256", n, e });

  it("RSA moduli of 2048 to 8192 bits are accepted, also with a leading zero byte", () => {
    for (const n of [number(2048), number(2049), number(3072), number(8192), number(8192, 1)]) {
      expect(rsa(n)).to.equal(undefined);
    }
  });

  for (const [what, n, e, reason] of [
    ["a modulus of 2047 bits", number(2047), "AQAB", "RSA modulus of 2047 bits"],
    ["a modulus of 8193 bits", number(8193), "AQAB", "RSA modulus of 8193 bits"],
    ["a modulus of a megabyte", number(8_000_000), "AQAB", "RSA modulus of more than 8192 bits"],
    ["an even modulus", even(2048), "AQAB", "even RSA modulus"],
    ["no modulus", "", "AQAB", "RSA modulus of 0 bits"],
    ["an exponent of 33 bits", number(2048), number(33), "RSA exponent of more than 32 bits"],
    ["an exponent as long as the modulus", number(2048), number(2047), "RSA exponent of more than 32 bits"],
    ["the exponent 1", number(2048), "AQ", "RSA exponent that is even or below 3"],
    ["the exponent 0", number(2048), "AA", "RSA exponent that is even or below 3"],
    ["an even exponent", number(2048), "AQAA", "RSA exponent that is even or below 3"],
    ["no exponent", number(2048), "", "RSA exponent that is even or below 3"],
  ] as const) {
    it(`a key with ${what} is rejected`, () => expect(rsa(n, e)).to.include(reason));
  }

  it("every odd exponent of 2 to 32 bits is accepted", () => {
    for (const e of ["Aw", "EQ", "AQAB", "_____w", "AAEAAQ"])
      expect(rsa(number(2048), e)).to.equal(undefined);
  });

  it("key ids and coordinates of unusual length are rejected", () => {
    const curve = { kty: "EC", alg: "ES512", crv: "P-521", x: "A".repeat(88), y: "A".repeat(88) } as const;
    expect(refuseKey({ ...curve, kid: "k".repeat(1_024) })).to.equal(undefined);
    expect(refuseKey({ ...curve, x: "A".repeat(89) })).to.include("coordinates");
    expect(refuseKey({ ...curve, y: "A".repeat(89) })).to.include("coordinates");
    expect(refuseKey({ ...curve, kid: "k".repeat(1_025) })).to.include("kid");
  });
});
