/** Creates the fallback certificate. See docs/ingress-nginx.md, "Certificates". */
import type { ObjectOf } from "../api/kinds.ts";
import {
  alternativeNames,
  basicConstraints,
  digitalSignature,
  keyUsage,
  tlsUsage,
} from "../discovery/certificate-builder.ts";
import { createSelfSigned } from "../discovery/self-signed.ts";
import { fallbackSecret } from "../translate/ingress-nginx/fallback-certificate.ts";

/** How long before its creation the certificate becomes valid, because clocks of clients differ. */
const backdateMs = 60 * 60_000;
/** The validity of the certificate, which is not renewed because clients do not verify it. */
const lifetimeMs = 10 * 365.25 * 24 * 60 * 60_000;

/** Creates a Secret with a self-signed certificate for no real host, and with a new key. */
export async function createFallbackSecret(namespace: string, nowMs: number): Promise<ObjectOf<"Secret">> {
  const { certificatePem, privateKeyPem } = await createSelfSigned(
    "svc-gateway fallback certificate",
    { notBeforeMs: nowMs - backdateMs, notAfterMs: nowMs + lifetimeMs },
    [
      basicConstraints(false),
      keyUsage(digitalSignature),
      tlsUsage("server"),
      alternativeNames([], ["fallback.invalid"]),
    ],
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
      "tls.crt": base64(certificatePem),
      "tls.key": base64(privateKeyPem),
    },
  } as ObjectOf<"Secret">;
}
