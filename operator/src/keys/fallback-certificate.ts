/** Makes the fallback certificate. See docs/ingress-nginx.md, "Certificates". */
import { webcrypto } from "node:crypto";
import type { ObjectOf } from "../api/kinds.ts";
import {
  alternativeNames,
  basicConstraints,
  commonName,
  digitalSignature,
  keyUsage,
  signCertificate,
  tlsUsage,
} from "../discovery/certificate-builder.ts";
import { toPem } from "../discovery/pem.ts";
import { fallbackSecret } from "../translate/ingress-nginx/fallback-certificate.ts";

/** Certificates are valid from a little earlier, because clocks of clients differ. */
const backdateMs = 60 * 60_000;
/** Clients do not verify it, so it is not renewed. */
const lifetimeMs = 10 * 365.25 * 24 * 60 * 60_000;

/** A Secret with a self-signed certificate for no host, with a key of its own. */
export async function createFallbackSecret(namespace: string, nowMs: number): Promise<ObjectOf<"Secret">> {
  const keys = await webcrypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, [
    "sign",
    "verify",
  ]);
  const [publicKey, privateKey] = await Promise.all([
    webcrypto.subtle.exportKey("spki", keys.publicKey),
    webcrypto.subtle.exportKey("pkcs8", keys.privateKey),
  ]);
  const name = commonName("svc-gateway fallback certificate");
  const certificate = await signCertificate(
    {
      subject: name,
      publicKey: new Uint8Array(publicKey),
      notBeforeMs: nowMs - backdateMs,
      notAfterMs: nowMs + lifetimeMs,
      extensions: [
        basicConstraints(false),
        keyUsage(digitalSignature),
        tlsUsage("server"),
        alternativeNames([], ["fallback.invalid"]),
      ],
    },
    { name, key: keys.privateKey },
  );
  const base64 = (pem: string): string => Buffer.from(pem).toString("base64");
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name: fallbackSecret,
      namespace,
      labels: { "app.kubernetes.io/name": "svc", "app.kubernetes.io/managed-by": "svc" },
    },
    type: "kubernetes.io/tls",
    data: {
      "tls.crt": base64(toPem("CERTIFICATE", certificate)),
      "tls.key": base64(toPem("PRIVATE KEY", new Uint8Array(privateKey))),
    },
  } as ObjectOf<"Secret">;
}
