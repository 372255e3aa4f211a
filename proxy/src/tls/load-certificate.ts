import { createPrivateKey, X509Certificate } from "node:crypto";
import type { Certificate } from "@svc-gateway/common/ir/certificate.ts";
import { textOf } from "@svc-gateway/common/values/errors.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";

/** A certificate that can be served. */
export type LoadedCertificate = Certificate & {
  /** `rsa`, `ec`, `ed25519`, ... A server has one certificate of each type. */
  readonly keyType: string;
  /** End of validity, in milliseconds since 1970. */
  readonly notAfterMs: number;
};

/** Parses the leaf and its key, and checks that they match. The error contains no key material. */
export function loadCertificate({ chainPem, keyPem }: Certificate): Result<LoadedCertificate> {
  try {
    const leaf = new X509Certificate(chainPem);
    const key = createPrivateKey(keyPem);
    if (!leaf.checkPrivateKey(key)) return problem("the private key does not match the certificate");
    return ok({
      chainPem,
      keyPem,
      keyType: key.asymmetricKeyType ?? "unknown",
      notAfterMs: leaf.validToDate.getTime(),
    });
  } catch (error) {
    return problem(`the certificate or its private key cannot be parsed: ${textOf(error)}`);
  }
}
