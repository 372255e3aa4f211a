import { issueCertificate } from "../../../proxy/test/tls/certificates.ts";

const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** Returns a TLS Secret with a new certificate for these names, which is also its authority for clients. */
export function tlsSecret(name: string, names: readonly string[], namespace = "shop"): object {
  const { chainPem, keyPem } = issueCertificate(names);
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name, namespace },
    type: "kubernetes.io/tls",
    data: { "ca.crt": base64(chainPem), "tls.crt": base64(chainPem), "tls.key": base64(keyPem) },
  };
}
