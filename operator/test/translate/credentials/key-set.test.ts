import { createSecretKey, generateKeyPairSync, type JsonWebKey } from "node:crypto";
import { expect } from "chai";
import fc from "fast-check";
import { describeUntried, describeUnusable, readKeySet } from "../../../src/translate/credentials/key-set.ts";

const rsa = (bits: number): JsonWebKey =>
  generateKeyPairSync("rsa", { modulusLength: bits }).publicKey.export({ format: "jwk" });
const ec = (namedCurve: string): JsonWebKey =>
  generateKeyPairSync("ec", { namedCurve }).publicKey.export({ format: "jwk" });
const ed = generateKeyPairSync("ed25519");

const algorithmsOf = (...keys: readonly object[]): readonly string[] => {
  const read = readKeySet({ keys });
  return read.ok ? read.value.keys.map(({ alg }) => alg) : [];
};

describe("a JWK Set", () => {
  it("a JWK Set gives each key the one algorithm that it names, or that its type implies", () => {
    expect(algorithmsOf(rsa(2048))).to.deep.equal(["RS256"]);
    expect(algorithmsOf({ ...rsa(2048), alg: "PS512" })).to.deep.equal(["PS512"]);
    expect(algorithmsOf(ec("P-256"))).to.deep.equal(["ES256"]);
    expect(algorithmsOf(ec("P-384"))).to.deep.equal(["ES384"]);
    expect(algorithmsOf(ec("P-521"))).to.deep.equal(["ES512"]);
    expect(algorithmsOf(ed.publicKey.export({ format: "jwk" }))).to.deep.equal(["EdDSA"]);
  });

  for (const [what, key] of [
    ["a weak RSA key", rsa(1024)],
    ["an RSA key of 16,384 bits", { ...rsa(2048), n: Buffer.alloc(2048, 0xff).toString("base64url") }],
    ["an RSA key with a large exponent", { ...rsa(3072), e: Buffer.alloc(300, 0xff).toString("base64url") }],
    ["an RSA key with the exponent 1", { ...rsa(2048), e: "AQ" }],
    ["an encryption key", { ...rsa(2048), use: "enc" }],
    ["a key for other operations", { ...rsa(2048), key_ops: ["encrypt"] }],
    ["an algorithm of another type", { ...rsa(2048), alg: "ES256" }],
    ["a symmetric algorithm on a public key", { ...rsa(2048), alg: "HS256" }],
    ["no algorithm at all", { ...rsa(2048), alg: "none" }],
    ["a shared secret", createSecretKey(Buffer.from("0123456789abcdef")).export({ format: "jwk" })],
    ["another curve", ec("secp256k1")],
    ["a broken key", { ...ec("P-256"), x: "AAAA" }],
  ] as const) {
    it(`a JWK Set is read without ${what}, and rejected when it has no other key`, () => {
      const read = readKeySet({ keys: [key, ed.publicKey.export({ format: "jwk" })] });
      expect(read.ok && [read.value.keys.length, read.value.unusable.length]).to.deep.equal([1, 1]);
      expect(readKeySet({ keys: [key] }).ok).to.equal(false);
    });
  }

  it("the description of a JWK Set names the keys that are not used, and why", () => {
    const good = ed.publicKey.export({ format: "jwk" });
    const read = readKeySet({ keys: [good, { ...rsa(1024), kid: "old" }, 7, { kty: "oct", k: "AA" }] });
    const unusable = read.ok ? read.value.unusable : [];
    expect(unusable).to.deep.equal([
      'key 2 ("old") has an RSA modulus of 1024 bits, not 2048 to 8192',
      "key 3 is not an object",
      "key 4 is of a type, or for an algorithm, that is not accepted (kty, crv, alg)",
    ]);
    expect(describeUnusable(unusable)).to.equal(
      'key 2 ("old") has an RSA modulus of 1024 bits, not 2048 to 8192; it is ignored, like 2 more that cannot be used',
    );
    expect(describeUnusable([])).to.equal(undefined);
  });

  it("the description of a JWK Set names the keys that a token without kid may not be checked with", () => {
    const untriedOf = (set: readonly object[]): string | undefined => {
      const read = readKeySet({ keys: set });
      return read.ok ? describeUntried(read.value.keys) : "unreadable";
    };
    const some = (count: number, kid?: string): readonly object[] =>
      Array.from({ length: count }, (_, index) => ({ ...ec("P-256"), kid: kid ?? `${index}` }));
    const unnamed = some(9).map((key) => ({ ...key, kid: undefined }));
    expect(untriedOf(some(8))).to.equal(undefined);
    expect(untriedOf([...some(8), ec("P-384")])).to.equal(undefined);
    const nine = "9 keys are for ES256, and a token without kid is checked with 8 of them only";
    expect(untriedOf(some(9))).to.equal(nine);
    expect(untriedOf(some(9, "same"))).to.equal(
      `${nine}; 9 of them have the kid "same", so some are never used`,
    );
    expect(untriedOf(unnamed)).to.equal(`${nine}; 9 of them have no kid, so some are never used`);
  });

  it("a JWK Set drops the private part of a key", () => {
    const read = readKeySet({ keys: [{ ...ed.privateKey.export({ format: "jwk" }), note: "x" }] });
    expect(read.ok && Object.keys(read.value.keys[0] ?? {})).to.deep.equal(["kty", "alg", "crv", "x"]);
  });

  it("a JWK Set reads the same in any order and holds each key once", () => {
    const keys = [ec("P-256"), ec("P-384"), ed.publicKey.export({ format: "jwk" })];
    const once = readKeySet({ keys });
    expect(readKeySet({ keys: [...keys, ...keys].toReversed() })).to.deep.equal(once);
  });

  it("a JWK Set of more than 100 keys is rejected", () => {
    const key = ec("P-256");
    const set = (count: number): object => ({ keys: Array.from({ length: count }, () => key) });
    expect([readKeySet(set(100)).ok, readKeySet(set(101)).ok]).to.deep.equal([true, false]);
  });

  it("a JWK Set of arbitrary JSON is rejected without an exception", () => {
    const refused = (value: unknown): boolean => !readKeySet(value).ok;
    fc.assert(fc.property(fc.jsonValue(), refused));
    fc.assert(fc.property(fc.jsonValue(), (key) => refused({ keys: [key] })));
  });
});
