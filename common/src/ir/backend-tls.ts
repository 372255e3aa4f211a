import { z } from "zod";
import { certificateSchema, type Certificate } from "./certificate.ts";

/**
 * A name that the certificate of a backend may have: a DNS name, which may be `*.x`, or a URI, compared byte for byte.
 */
const subjectAltNameSchema = z.object({ type: z.enum(["dns", "uri"]), value: z.string() });

/**
 * TLS towards the endpoints of a Service, as configured by a BackendTLSPolicy or an Ingress. It is a separate resource,
 * so that a rollout does not resend the authorities. See docs/features/backend-tls.md.
 */
export const backendTlsSchema = z.object({
  /**
   * The name that the certificate must have unless `subjectAltNames` is set; also the server name that is sent. Empty
   * for none, which is valid only in settings without verification.
   */
  hostname: z.string(),
  /** Whether the server name is omitted from the handshake. */
  hidesServerName: z.literal(true).optional(),
  /**
   * The trusted authorities: `system`, or a PEM bundle in which each certificate is an anchor. If absent, no authority
   * is trusted.
   */
  authorities: z.string().optional(),
  /**
   * Whether any certificate is accepted. Proxies of releases without this field make no connection, because no
   * authority is trusted either.
   */
  unverified: z.literal(true).optional(),
  /**
   * The maximum number of intermediate certificates between that of the backend and an authority; if absent, there is
   * no limit.
   */
  maxIntermediates: z.int().min(0).optional(),
  /** The client certificate that is presented to the backend, instead of the certificate of a Gateway. */
  certificate: certificateSchema.optional(),
  /** Names of which the certificate must have at least one, instead of the hostname. */
  subjectAltNames: z.array(subjectAltNameSchema).min(1).optional(),
});

/** The value of `authorities` for those of the system on which the proxy runs; no PEM bundle has this text. */
export const systemAuthorities = "system";

/**
 * The client certificate that a Gateway presents to backends with TLS. If its reference cannot be resolved, it is
 * absent, and no connection is made to these backends. Like `tls|` and `backendtls|`, this resource can hold a private
 * key.
 */
export const backendCertificateSchema = z.object({ certificate: certificateSchema.optional() });

export type SubjectAltName = Readonly<z.infer<typeof subjectAltNameSchema>>;
export type BackendTls = Readonly<Omit<z.infer<typeof backendTlsSchema>, "subjectAltNames">> & {
  readonly subjectAltNames?: readonly SubjectAltName[] | undefined;
};
export type BackendCertificate = { readonly certificate?: Certificate | undefined };
