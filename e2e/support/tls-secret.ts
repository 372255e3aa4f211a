/** A Secret named `tls` with a certificate of a server. */
export const tlsSecret = ({
  certificatePem,
  keyPem,
}: {
  readonly certificatePem: string;
  readonly keyPem: string;
}): object => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "tls" },
  type: "kubernetes.io/tls",
  data: { "tls.crt": base64(certificatePem), "tls.key": base64(keyPem) },
});

const base64 = (text: string): string => Buffer.from(text).toString("base64");
