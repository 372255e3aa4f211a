import { z } from "zod";
import { tlsHostSchema } from "./certificate.ts";

/**
 * The requirement on clients that is checked for each request and answered over HTTP. `on`: a valid certificate.
 * `optional`: a valid one or none. `optional_no_ca`: nothing.
 */
export const requestVerdictSchema = z.object({
  mode: z.enum(["on", "optional", "optional_no_ca"]),
  /**
   * A regular expression (RE2) that is searched in the subject of the certificate; clients that do not match get 403.
   */
  subject: z.string().optional(),
  /**
   * The address to which clients are redirected instead of getting 400: a URL, or a path of the host that is served to
   * them.
   */
  errorPage: z.string().optional(),
});

export type RequestVerdict = Readonly<z.infer<typeof requestVerdictSchema>>;

/**
 * The authentication of clients of one server name. `bucket` and `host` are as for certificates, and cover names in the
 * same way. An entry applies only to names whose certificates are not those of a more specific entry
 * (docs/features/auth-tls.md).
 */
export const clientValidationSchema = z.object({
  bucket: tlsHostSchema.shape.bucket,
  host: z.string(),
  /**
   * `require`: the handshake fails without a valid certificate. `optional`: a certificate is requested, but a client
   * without one is admitted.
   */
  mode: z.enum(["require", "optional"]),
  /** Id of the authorities by which certificates must be issued; if absent, no certificate is valid. */
  authorities: z.string().optional(),
  /** The maximum number of certificates between that of the client and an authority; if absent, there is no limit. */
  maxIntermediates: z.int().min(0).optional(),
  /**
   * Whether certificates are verified in the handshake, but the result is checked for each request; the mode is then
   * `optional`.
   */
  deferred: z.literal(true).optional(),
  /** Whether upstreams receive the certificate in `X-SSL-Client-Cert`. */
  forward: z.boolean(),
  /** The owner of the rules, as in `ClientRules`. */
  owner: z.string().optional(),
});

/**
 * The rules by which the client of a connection must have been verified before a request over it is accepted: those of
 * a host, or of one route (docs/features/auth-tls.md, "Requests").
 */
export const clientRulesSchema = z.object({
  /** The owner of the rules: `ingress/namespace/name`, or the id of a listener. */
  owner: z.string(),
  /** Id of the authorities in the resource of the port; if absent, every client is rejected. */
  authorities: z.string().optional(),
  /** The maximum number of certificates between that of the client and an authority; if absent, there is no limit. */
  maxIntermediates: z.int().min(0).optional(),
  /** The requirement by which requests are answered over HTTP if the handshake has not verified the client. */
  byRequest: requestVerdictSchema.optional(),
  /** Whether upstreams receive the certificate in `X-SSL-Client-Cert`; set for hosts only. */
  forward: z.literal(true).optional(),
});

/** Client certificates of one port. `authorities` are PEM bundles by the SHA-256 (hex) of their text. */
export const clientCertPortSchema = z.object({
  authorities: z.record(z.string(), z.string()),
  hosts: z.array(clientValidationSchema),
});

export type ClientRules = Readonly<z.infer<typeof clientRulesSchema>>;
export type ClientValidation = Readonly<z.infer<typeof clientValidationSchema>>;
export type ClientCertPort = {
  readonly authorities: { readonly [id: string]: string };
  readonly hosts: readonly ClientValidation[];
};
