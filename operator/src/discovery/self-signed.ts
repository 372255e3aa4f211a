import { webcrypto } from "node:crypto";
import type { Extension } from "pkijs";
import { commonName, signCertificate } from "./certificate-builder.ts";
import { toPem } from "./pem.ts";

/** A certificate signed by its own key. */
export type SelfSigned = { readonly certificatePem: string; readonly privateKeyPem: string };

/** Creates a certificate with a new P-256 key, signed by that key. */
export async function createSelfSigned(
  name: string,
  validity: { readonly notBeforeMs: number; readonly notAfterMs: number },
  extensions: readonly Extension[],
): Promise<SelfSigned> {
  const keys = await webcrypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, [
    "sign",
    "verify",
  ]);
  const [publicKey, privateKey] = await Promise.all([
    webcrypto.subtle.exportKey("spki", keys.publicKey),
    webcrypto.subtle.exportKey("pkcs8", keys.privateKey),
  ]);
  const subject = commonName(name);
  const certificate = await signCertificate(
    { subject, publicKey: new Uint8Array(publicKey), ...validity, extensions },
    { name: subject, key: keys.privateKey },
  );
  return {
    certificatePem: toPem("CERTIFICATE", certificate),
    privateKeyPem: toPem("PRIVATE KEY", new Uint8Array(privateKey)),
  };
}
