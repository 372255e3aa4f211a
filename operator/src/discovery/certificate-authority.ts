import { createPrivateKey, createPublicKey, webcrypto, X509Certificate, type KeyObject } from "node:crypto";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import { spiffeId, type WorkloadIdentity, type WorkloadPod } from "@svc-gateway/proto/identity.ts";
import { OctetString } from "asn1js";
import { Certificate } from "pkijs";
import {
  alternativeNames,
  basicConstraints,
  certificateSign,
  commonName,
  digitalSignature,
  keyUsage,
  signCertificate,
  tlsUsage,
  type Signer,
} from "./certificate-builder.ts";
import { pemBlocks, toPem } from "./pem.ts";
import { podAttributes } from "./pod-attributes.ts";
import { createSelfSigned } from "./self-signed.ts";

/** A certificate authority as it is stored: the values of `tls.crt` and `tls.key`. */
export type CaPem = { readonly certificatePem: string; readonly privateKeyPem: string };

/** A new certificate: the leaf and the certificates that a peer needs to verify it with the trusted root. */
export type IssuedCertificate = { readonly chainPem: string; readonly notAfterMs: number };

export type SvidRequest = {
  /** The subject's public key, DER (SubjectPublicKeyInfo). */
  readonly publicKey: Uint8Array;
  readonly identity: WorkloadIdentity;
  /** The pod that is named in the subject of the certificate. */
  readonly pod?: WorkloadPod;
  readonly nowMs: number;
  readonly lifetimeMs: number;
};

export type ServerCertificateRequest = SvidRequest & { readonly dnsNames: readonly string[] };

/** Signs the certificates of the discovery channel. See docs/discovery.md, "Identities". */
export type CertificateAuthority = {
  /** The value of `tls.crt` as read. */
  readonly certificatePem: string;
  /** The certificate that verifiers must trust: the last one of `tls.crt`. */
  readonly rootPem: string;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  /** Issues a certificate for a proxy, with client authentication only. */
  issueSvid(request: SvidRequest): Promise<IssuedCertificate>;
  /** Issues a certificate for a controller, with server authentication only. */
  issueServerCertificate(request: ServerCertificateRequest): Promise<IssuedCertificate>;
};

/** How long before its creation a certificate becomes valid, because clocks of nodes differ. */
const backdateMs = 5 * 60_000;
const caLifetimeMs = 10 * 365.25 * 24 * 60 * 60_000;
const maxPemLength = 64 * 1024;

/** Creates a self-signed authority with a P-256 key, valid for ten years. */
export async function createCertificateAuthority(trustDomain: string, nowMs: number): Promise<CaPem> {
  return createSelfSigned(
    "svc-gateway discovery CA",
    { notBeforeMs: nowMs - backdateMs, notAfterMs: nowMs + caLifetimeMs },
    [basicConstraints(true), keyUsage(certificateSign), alternativeNames([`spiffe://${trustDomain}`])],
  );
}

/**
 * Reads a stored authority. `tls.crt` contains the signing certificate, followed by its issuers up to the root if it is
 * not a root itself. Fails if the authority cannot be used: it is not PEM or not an authority, its key belongs to
 * another certificate, or its key is too weak. The caller checks whether it has expired.
 */
export async function loadCertificateAuthority(
  trustDomain: string,
  pem: CaPem,
): Promise<Result<CertificateAuthority>> {
  try {
    return await load(trustDomain, pem);
  } catch (error) {
    // Parsers throw on malformed input. The message of a parser never quotes the key.
    return problem(
      `the certificate authority cannot be read: ${error instanceof Error ? error.name : "error"}`,
    );
  }
}

async function load(trustDomain: string, pem: CaPem): Promise<Result<CertificateAuthority>> {
  if (pem.certificatePem.length + pem.privateKeyPem.length > maxPemLength) {
    return problem("the certificate authority is larger than 64 KiB");
  }
  const chain = pemBlocks(pem.certificatePem, "CERTIFICATE");
  const [own] = chain;
  const root = chain.at(-1);
  if (own === undefined || root === undefined) return problem("tls.crt holds no certificate");
  const certificate = new X509Certificate(own);
  const privateKey = createPrivateKey(pem.privateKeyPem);
  if (!certificate.ca) return problem("tls.crt is not the certificate of an authority");
  if (!certificate.checkPrivateKey(privateKey)) return problem("tls.key is not the key of tls.crt");
  if (!isStrongKey(certificate.publicKey))
    return problem(
      "the key is too weak or unsupported, expected P-256, P-384, P-521 or RSA of 3072 to 8192 bits",
    );
  const key = signingKey(privateKey);
  const parsed = Certificate.fromBER(new Uint8Array(own));
  const keyId = subjectKeyId(parsed);
  const signer: Signer = { name: parsed.subject, key, ...(keyId !== undefined && { keyId }) };
  const issuersPem = chain
    .slice(0, -1)
    .map((der) => toPem("CERTIFICATE", der))
    .join("");
  const caNotAfterMs = certificate.validToDate.getTime();

  const issue = async (
    request: SvidRequest,
    side: "server" | "client",
    dnsNames: readonly string[],
  ): Promise<IssuedCertificate> => {
    const notAfterMs = Math.min(request.nowMs + request.lifetimeMs, caNotAfterMs);
    const der = await signCertificate(
      {
        subject:
          side === "server"
            ? commonName("svc-gateway controller")
            : commonName("svc-gateway proxy", podAttributes(request.pod)),
        publicKey: request.publicKey,
        notBeforeMs: request.nowMs - backdateMs,
        notAfterMs,
        extensions: [
          basicConstraints(false),
          keyUsage(digitalSignature),
          tlsUsage(side),
          alternativeNames([spiffeId(trustDomain, request.identity)], dnsNames),
        ],
      },
      signer,
    );
    return {
      chainPem: toPem("CERTIFICATE", der) + issuersPem,
      notAfterMs: Math.floor(notAfterMs / 1000) * 1000,
    };
  };
  return ok({
    certificatePem: pem.certificatePem,
    rootPem: toPem("CERTIFICATE", root),
    notBeforeMs: certificate.validFromDate.getTime(),
    notAfterMs: caNotAfterMs,
    issueSvid: (request) => issue(request, "client", []),
    issueServerCertificate: (request) => issue(request, "server", request.dnsNames),
  });
}

/**
 * Whether a key is at least as strong as P-256, which provides 128 bits of security: P-256 and the larger NIST curves,
 * and RSA from 3072 bits (NIST SP 800-57 part 1, table 2). RSA keys are limited to 8192 bits, because the cost of a
 * check grows with the cube of the length.
 */
export function isStrongKey(key: KeyObject): boolean {
  const { namedCurve, modulusLength = 0 } = key.asymmetricKeyDetails ?? {};
  switch (key.asymmetricKeyType) {
    case "ec":
      return namedCurve !== undefined && curves.has(namedCurve);
    case "rsa":
      return modulusLength >= 3072 && modulusLength <= 8192;
    default:
      return false;
  }
}

const curves: ReadonlyMap<string, string> = new Map([
  ["prime256v1", "P-256"],
  ["secp384r1", "P-384"],
  ["secp521r1", "P-521"],
]);

function signingKey(key: KeyObject): webcrypto.CryptoKey {
  const namedCurve = curves.get(key.asymmetricKeyDetails?.namedCurve ?? "");
  const algorithm =
    namedCurve === undefined ? { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" } : { name: "ECDSA", namedCurve };
  return key.toCryptoKey(algorithm, false, ["sign"]);
}

function subjectKeyId(certificate: Certificate): ArrayBuffer | undefined {
  const parsed: unknown = certificate.extensions?.find(({ extnID }) => extnID === "2.5.29.14")?.parsedValue;
  return parsed instanceof OctetString ? parsed.getValue() : undefined;
}

/** Reads a public key in DER (SubjectPublicKeyInfo). */
export const publicKeyOf = (spki: Uint8Array): KeyObject =>
  createPublicKey({ key: Buffer.from(spki), format: "der", type: "spki" });
