import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import { CertificationRequest } from "pkijs";
import { isStrongKey, publicKeyOf } from "./certificate-authority.ts";
import { cryptoEngine } from "./certificate-builder.ts";
import { pemBlocks } from "./pem.ts";

const maxCsrBytes = 16 * 1024;

/**
 * Reads a certificate signing request (PKCS #10, RFC 2986) in PEM and returns its key as DER (SubjectPublicKeyInfo).
 * The request must be signed with that key, and the key must be strong enough. Everything else that it requests is
 * ignored, because the token determines the content of the certificate.
 */
export async function publicKeyOfCsr(pem: Uint8Array): Promise<Result<Uint8Array>> {
  if (pem.byteLength > maxCsrBytes) return problem("the certificate signing request is larger than 16 KiB");
  const text = Buffer.from(pem).toString("latin1");
  const [der, ...more] = pemBlocks(text, "CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST");
  if (der === undefined || more.length > 0) return problem("expected one CERTIFICATE REQUEST in PEM");
  try {
    const request = CertificationRequest.fromBER(new Uint8Array(der));
    const publicKey = new Uint8Array(request.subjectPublicKeyInfo.toSchema().toBER());
    if (!isStrongKey(publicKeyOf(publicKey)))
      return problem(
        "the key is too weak or unsupported, expected P-256, P-384, P-521 or RSA of 3072 to 8192 bits",
      );
    return (await request.verify(cryptoEngine))
      ? ok(publicKey)
      : problem("the certificate signing request is not signed with its own key");
  } catch {
    // The parsers throw on malformed input and on algorithms that they do not know.
    return problem("the certificate signing request cannot be parsed");
  }
}
