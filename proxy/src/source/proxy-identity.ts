import { createPrivateKey, X509Certificate } from "node:crypto";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";

/** The credentials that a proxy presents to controllers: its key, and the certificate that a controller signed. */
export type ProxyIdentity = {
  readonly privateKeyPem: string;
  readonly chainPem: string;
  readonly notAfterMs: number;
};

/** Reads a certificate that a controller has sent, which must be for this key and still be valid. */
export function readProxyIdentity(
  privateKeyPem: string,
  chainPem: string,
  nowMs: number,
): Result<ProxyIdentity> {
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(chainPem);
  } catch {
    return problem("the issued certificate cannot be parsed");
  }
  if (!certificate.checkPrivateKey(createPrivateKey(privateKeyPem))) {
    return problem("the issued certificate is for another key");
  }
  const notAfterMs = certificate.validToDate.getTime();
  return notAfterMs > nowMs
    ? ok({ privateKeyPem, chainPem, notAfterMs })
    : problem("the issued certificate has expired");
}
