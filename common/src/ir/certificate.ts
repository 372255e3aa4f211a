import { z } from "zod";

/** A certificate chain (leaf first) with its private key, both PEM. */
export const certificateSchema = z.object({ chainPem: z.string(), keyPem: z.string() });

/**
 * The certificates that are offered for a server name. `exact` is a full name, `wildcard` is `*.x` and matches one
 * left-most label (RFC 6125 6.4.3), `default` (host `*`) covers names that no other entry covers. The ids refer to
 * `certificates`, best first; the first one that the client can verify is used.
 */
export const tlsHostSchema = z.object({
  bucket: z.enum(["exact", "wildcard", "default"]),
  host: z.string(),
  certificates: z.array(z.string()).min(1),
  /**
   * With `none`, no application protocol (ALPN) is negotiated, since the protocol within the connections is not known
   * here.
   */
  applicationProtocols: z.literal("none").optional(),
});

/** A server name whose handshakes are rejected. */
const closedNameSchema = z.object({ bucket: z.enum(["exact", "wildcard"]), host: z.string() });

/** All server names of one port. Certificate ids are content hashes of chain and key. */
export const tlsPortSchema = z.object({
  certificates: z.record(z.string(), certificateSchema),
  /**
   * The names whose handshakes are rejected although an entry of `hosts` may cover them: those of Gateway listeners
   * without a usable certificate (docs/gateway-api.md, "Certificates"), or without usable authorities for clients
   * (docs/features/frontend-client-certificates.md).
   */
  closed: z.array(closedNameSchema).optional(),
  hosts: z.array(tlsHostSchema),
});

export type Certificate = Readonly<z.infer<typeof certificateSchema>>;
export type TlsHost = Readonly<Omit<z.infer<typeof tlsHostSchema>, "certificates">> & {
  readonly certificates: readonly string[];
};
export type ClosedName = Readonly<z.infer<typeof closedNameSchema>>;
export type TlsPort = {
  readonly certificates: { readonly [id: string]: Certificate };
  readonly closed?: readonly ClosedName[] | undefined;
  readonly hosts: readonly TlsHost[];
};
