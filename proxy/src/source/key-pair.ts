import { KeyObject, webcrypto } from "node:crypto";
import { Utf8String } from "asn1js";
import { AttributeTypeAndValue, CertificationRequest, CryptoEngine } from "pkijs";

/** A new private key and the request to certify it, both in PEM. The key never leaves the process. */
export type KeyPair = { readonly privateKeyPem: string; readonly csrPem: string };

const engine = new CryptoEngine({ name: "node", crypto: webcrypto });

/**
 * Creates a P-256 key and signs a request for it (PKCS #10, RFC 2986). The name in the request is informational; the
 * controller takes the identity from the token.
 */
export async function createKeyPair(name: string): Promise<KeyPair> {
  const algorithm = { name: "ECDSA", namedCurve: "P-256" };
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const request = new CertificationRequest();
  request.subject.typesAndValues.push(
    new AttributeTypeAndValue({ type: "2.5.4.3", value: new Utf8String({ value: name.slice(0, 64) }) }),
  );
  await request.subjectPublicKeyInfo.importKey(keys.publicKey, engine);
  await request.sign(keys.privateKey, "SHA-256", engine);
  const base64 = Buffer.from(request.toSchema(true).toBER()).toString("base64");
  const lines = base64.match(/.{1,64}/g) ?? [];
  return {
    privateKeyPem: KeyObject.from(keys.privateKey).export({ type: "pkcs8", format: "pem" }).toString(),
    csrPem: `-----BEGIN CERTIFICATE REQUEST-----\n${lines.join("\n")}\n-----END CERTIFICATE REQUEST-----\n`,
  };
}
