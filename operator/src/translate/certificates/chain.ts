import { X509Certificate, type KeyObject } from "node:crypto";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";

/**
 * The maximum number of certificates of a chain, far above that of any real one. It bounds the work of ordering it.
 */
const maxChainCertificates = 32;

const pemCertificate = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]*-----END CERTIFICATE-----/g;

/**
 * Reads the certificates of a PEM text in their order. Text between them is skipped (RFC 7468 5.2). A
 * certificate that cannot be parsed makes the whole text unusable. `key` is the place of the text, for messages.
 */
export function readPemCertificates(
  pem: string,
  key: string,
  maxCertificates = maxChainCertificates,
): Result<readonly X509Certificate[]> {
  const begun = pem.split("-----BEGIN CERTIFICATE-----").length - 1;
  const blocks = [...pem.matchAll(pemCertificate)].map(([block]) => block);
  if (blocks.length === 0) return problem(`${key} holds no certificate in PEM form`);
  if (blocks.length > maxCertificates)
    return problem(`${key} holds more than ${maxCertificates} certificates`);
  try {
    const certificates = blocks.map((block) => new X509Certificate(block));
    if (begun === blocks.length) return ok(certificates);
  } catch {
    // OpenSSL's reason ("not enough data") adds nothing to this message.
  }
  return problem(`${key} holds a certificate that cannot be parsed`);
}

/**
 * Orders the chain of the certificate that belongs to the key: the leaf first, followed by each issuer (RFC
 * 8446 4.4.2), then certificates that do not connect, because they can belong to another path. Empty if the key
 * belongs to none of the certificates.
 */
export function orderChain(
  certificates: readonly X509Certificate[],
  key: KeyObject,
): readonly X509Certificate[] {
  const leaf = certificates.find((certificate) => certificate.checkPrivateKey(key));
  if (leaf === undefined) return [];
  const chain = [leaf];
  const rest = new Map(certificates.map((certificate) => [certificate.fingerprint256, certificate]));
  for (let last: X509Certificate | undefined = leaf; last !== undefined;) {
    rest.delete(last.fingerprint256);
    const current: X509Certificate = last;
    last = [...rest.values()].find((candidate) => current.checkIssued(candidate));
    if (last !== undefined) chain.push(last);
  }
  return [...chain, ...rest.values()];
}
