import { generateKeyPairSync, KeyObject, webcrypto } from "node:crypto";
import { CertificationRequest } from "pkijs";
import { commonName, cryptoEngine } from "@svc-gateway/operator/discovery/certificate-builder.ts";
import { toPem } from "@svc-gateway/operator/discovery/pem.ts";

export type TestKeyPair = { readonly csrPem: Buffer; readonly privateKeyPem: string };

type KeyAlgorithm = { readonly name: string; readonly namedCurve?: string; readonly modulusLength?: number };

/** A signing request of a key of any algorithm, with a subject that must not be trusted. */
export async function createSigningRequest(
  algorithm: KeyAlgorithm = { name: "ECDSA", namedCurve: "P-256" },
): Promise<TestKeyPair> {
  const parameters = {
    ...algorithm,
    ...(algorithm.modulusLength !== undefined && {
      publicExponent: new Uint8Array([1, 0, 1]),
      hash: "SHA-256",
    }),
  };
  const keys = (await webcrypto.subtle.generateKey(parameters, true, [
    "sign",
    "verify",
  ])) as webcrypto.CryptoKeyPair;
  const request = new CertificationRequest({ subject: commonName("system:masters") });
  await request.subjectPublicKeyInfo.importKey(keys.publicKey, cryptoEngine);
  await request.sign(keys.privateKey, "SHA-256", cryptoEngine);
  return {
    csrPem: Buffer.from(toPem("CERTIFICATE REQUEST", new Uint8Array(request.toSchema(true).toBER()))),
    privateKeyPem: KeyObject.from(keys.privateKey).export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

/** A P-256 key: its private half in PEM, its public half as SubjectPublicKeyInfo. */
export function createTestKey(): { readonly privateKeyPem: string; readonly publicKey: Buffer } {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return {
    privateKeyPem: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    publicKey: publicKey.export({ type: "spki", format: "der" }),
  };
}
