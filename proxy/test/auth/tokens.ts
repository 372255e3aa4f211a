import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { SignJWT, type JWTHeaderParameters, type JWTPayload } from "jose";
import { createVerificationKeys, type VerificationKeys } from "../../src/auth/key-set.ts";
import type { PublicKey } from "@svc-gateway/common/ir/credentials.ts";

export type TestKey = { readonly public: PublicKey; readonly private: KeyObject };

const pairs = {
  RSA: () => generateKeyPairSync("rsa", { modulusLength: 2048 }),
  EC: () => generateKeyPairSync("ec", { namedCurve: "P-256" }),
  OKP: () => generateKeyPairSync("ed25519"),
};

/** A key as the controller ships it. */
export function makeKey(kty: PublicKey["kty"], alg: string, kid?: string): TestKey {
  const { publicKey, privateKey } = pairs[kty]();
  const jwk = publicKey.export({ format: "jwk" });
  return {
    public: { ...jwk, kty, alg, ...(kid !== undefined && { kid }) } as PublicKey,
    private: privateKey,
  };
}

export const keySetOf = (...keys: readonly TestKey[]): VerificationKeys =>
  createVerificationKeys({ keys: keys.map((key) => key.public) }, undefined);

/** Signs claims; those that every valid token needs have defaults. */
export function signToken(
  key: TestKey,
  claims: JWTPayload = {},
  header: Partial<JWTHeaderParameters> = {},
): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const { kid, alg } = key.public;
  const payload = { iss: "https://id.example", aud: "shop", exp: now + 600, sub: "alice", ...claims };
  return new SignJWT(payload)
    .setProtectedHeader({ alg, ...(kid !== undefined && { kid }), ...header })
    .sign(key.private);
}
