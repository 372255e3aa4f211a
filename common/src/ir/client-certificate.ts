import { z } from "zod";
import { tlsHostSchema } from "./certificate.ts";

/**
 * How clients of one server name prove who they are. `bucket` and `host` are as for certificates, and cover names in
 * the same way; an entry counts only for names whose certificates are not of a more specific entry
 * (docs/features/auth-tls.md).
 */
export const clientValidationSchema = z.object({
  bucket: tlsHostSchema.shape.bucket,
  host: z.string(),
  /** `require`: no handshake without a valid certificate. `optional`: asked for, and never a reason to refuse. */
  mode: z.enum(["require", "optional"]),
  /** Id of the authorities that certificates must come from; absent: none is valid. */
  authorities: z.string().optional(),
  /** Most certificates between the client's own and an authority; absent: any number. */
  maxIntermediates: z.int().min(0).optional(),
  /** Whether upstreams are shown the certificate in `X-SSL-Client-Cert`. */
  forward: z.boolean(),
});

/** Client certificates of one port. `authorities` are PEM bundles by the SHA-256 (hex) of their text. */
export const clientCertPortSchema = z.object({
  authorities: z.record(z.string(), z.string()),
  hosts: z.array(clientValidationSchema),
});

export type ClientValidation = Readonly<z.infer<typeof clientValidationSchema>>;
export type ClientCertPort = {
  readonly authorities: { readonly [id: string]: string };
  readonly hosts: readonly ClientValidation[];
};
