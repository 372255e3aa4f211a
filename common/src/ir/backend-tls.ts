import { z } from "zod";
import { certificateSchema, type Certificate } from "./certificate.ts";

/** A name that a backend may prove: a DNS name, which may be `*.x`, or a URI, compared byte for byte. */
const subjectAltNameSchema = z.object({ type: z.enum(["dns", "uri"]), value: z.string() });

/**
 * TLS towards the endpoints of a Service, as a BackendTLSPolicy or an Ingress asks for it; a resource of its own so that a
 * rollout does not carry the authorities along. See docs/features/backend-tls.md.
 */
export const backendTlsSchema = z.object({
  /**
   * The name that the certificate must have, without `subjectAltNames`; also the server name that is sent. Empty: there is
   * none, as only settings without verification may have it.
   */
  hostname: z.string(),
  /** The server name is not sent. */
  hidesServerName: z.literal(true).optional(),
  /**
   * The trusted authorities: `system`, or a PEM bundle of which each certificate is an anchor. Absent: none is trusted.
   */
  authorities: z.string().optional(),
  /**
   * Any certificate is accepted. Proxies that do not know this make no connection, because no authority is trusted either.
   */
  unverified: z.literal(true).optional(),
  /** The most intermediate certificates between that of the backend and an authority; absent: any number. */
  maxIntermediates: z.int().min(0).optional(),
  /** Shown to the backend, instead of the certificate of a Gateway. */
  certificate: certificateSchema.optional(),
  /** The certificate must have one of these, instead of the hostname. */
  subjectAltNames: z.array(subjectAltNameSchema).min(1).optional(),
});

/** Means the authorities of the system that the proxy runs on; no PEM bundle reads like this. */
export const systemAuthorities = "system";

/**
 * The certificate that a Gateway shows to backends with TLS; absent when its reference cannot be resolved: then no
 * connection is made to them. Like `tls|` and `backendtls|`, a resource that can hold a private key.
 */
export const backendCertificateSchema = z.object({ certificate: certificateSchema.optional() });

export type SubjectAltName = Readonly<z.infer<typeof subjectAltNameSchema>>;
export type BackendTls = Readonly<Omit<z.infer<typeof backendTlsSchema>, "subjectAltNames">> & {
  readonly subjectAltNames?: readonly SubjectAltName[] | undefined;
};
export type BackendCertificate = { readonly certificate?: Certificate | undefined };
