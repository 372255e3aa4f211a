import { z } from "zod";
import { tlsHostSchema } from "./certificate.ts";

/**
 * What is asked of clients once their connection is there, with an answer over HTTP. `on`: a valid certificate. `optional`: a
 * valid one or none. `optional_no_ca`: nothing.
 */
export const requestVerdictSchema = z.object({
  mode: z.enum(["on", "optional", "optional_no_ca"]),
  /** RE2, searched in the subject of the certificate; clients that do not match get 403. */
  subject: z.string().optional(),
  /** Where clients that get 400 are sent instead: a URL, or a path of the host that is served to them. */
  errorPage: z.string().optional(),
});

export type RequestVerdict = Readonly<z.infer<typeof requestVerdictSchema>>;

/**
 * How clients of one server name are authenticated. `bucket` and `host` are as for certificates, and cover names in the
 * same way; an entry counts only for names whose certificates are not of a more specific entry
 * (docs/features/auth-tls.md).
 */
export const clientValidationSchema = z.object({
  bucket: tlsHostSchema.shape.bucket,
  host: z.string(),
  /**
   * `require`: no handshake without a valid certificate. `optional`: requested, but a client without one is admitted.
   */
  mode: z.enum(["require", "optional"]),
  /** Id of the authorities that certificates must come from; absent: none is valid. */
  authorities: z.string().optional(),
  /** Most certificates between the client's own and an authority; absent: any number. */
  maxIntermediates: z.int().min(0).optional(),
  /** Certificates are verified in the handshake, and requests decide about the result; the mode is `optional` then. */
  deferred: z.literal(true).optional(),
  /** Whether upstreams are shown the certificate in `X-SSL-Client-Cert`. */
  forward: z.boolean(),
  /** The owner of the rules, as in `ClientRules`. */
  owner: z.string().optional(),
});

/**
 * The rules by which the client of a connection must have been verified before a request may come over it: of a host, or
 * of one route (docs/features/auth-tls.md, "Requests").
 */
export const clientRulesSchema = z.object({
  /** The owner of the rules: `ingress/namespace/name`, or the id of a listener. */
  owner: z.string(),
  /** Id of the authorities in the resource of the port; absent: every client is rejected. */
  authorities: z.string().optional(),
  /** Most certificates between the client's own and an authority; absent: any number. */
  maxIntermediates: z.int().min(0).optional(),
  /** Requests are answered over HTTP where the handshake has not verified the client. */
  byRequest: requestVerdictSchema.optional(),
  /** Of hosts only: whether upstreams are shown the certificate in `X-SSL-Client-Cert`. */
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
