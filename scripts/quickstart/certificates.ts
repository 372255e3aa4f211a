/**
 * Certificates for the examples: a temporary authority and a server certificate signed by it. They are generated on
 * the user's machine, so that the repository contains no private key and no expired certificate (docs/standalone.md).
 */
import { webcrypto } from "node:crypto";
import {
  alternativeNames,
  basicConstraints,
  certificateSign,
  commonName,
  digitalSignature,
  keyUsage,
  signCertificate,
  tlsUsage,
} from "@svc-gateway/operator/discovery/certificate-builder.ts";
import { toPem } from "@svc-gateway/operator/discovery/pem.ts";

export type ExampleCertificates = {
  /** The certificate that clients must trust. */
  readonly authorityPem: string;
  readonly certificatePem: string;
  readonly keyPem: string;
};

const dayMs = 24 * 60 * 60_000;
const lifetimeMs = 30 * dayMs;

/** Creates a certificate for these names, of a server by default, valid for 30 days from yesterday on. */
export async function createExampleCertificates(
  dnsNames: readonly string[],
  { nowMs = Date.now(), usage = "server" }: { nowMs?: number; usage?: "server" | "client" } = {},
): Promise<ExampleCertificates> {
  const [authority, server] = await Promise.all([createKeys(), createKeys()]);
  const validity = { notBeforeMs: nowMs - dayMs, notAfterMs: nowMs + lifetimeMs };
  const signer = { name: commonName("svc-gateway examples"), key: authority.privateKey };
  const authorityDer = await signCertificate(
    {
      ...validity,
      subject: signer.name,
      publicKey: authority.publicDer,
      extensions: [basicConstraints(true), keyUsage(certificateSign)],
    },
    signer,
  );
  const certificateDer = await signCertificate(
    {
      ...validity,
      subject: commonName(dnsNames[0] ?? "example"),
      publicKey: server.publicDer,
      extensions: [
        basicConstraints(false),
        keyUsage(digitalSignature),
        tlsUsage(usage),
        alternativeNames([], dnsNames),
      ],
    },
    signer,
  );
  return {
    authorityPem: toPem("CERTIFICATE", authorityDer),
    certificatePem: toPem("CERTIFICATE", certificateDer),
    keyPem: toPem("PRIVATE KEY", server.privateDer),
  };
}

async function createKeys(): Promise<{
  readonly privateKey: webcrypto.CryptoKey;
  readonly publicDer: Uint8Array;
  readonly privateDer: Uint8Array;
}> {
  const { subtle } = webcrypto;
  const keys = await subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"]);
  const [publicDer, privateDer] = await Promise.all([
    subtle.exportKey("spki", keys.publicKey),
    subtle.exportKey("pkcs8", keys.privateKey),
  ]);
  return {
    privateKey: keys.privateKey,
    publicDer: new Uint8Array(publicDer),
    privateDer: new Uint8Array(privateDer),
  };
}
