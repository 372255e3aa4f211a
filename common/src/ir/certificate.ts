import { z } from "zod";

/** A certificate chain (leaf first) with its private key, both PEM. */
export const certificateSchema = z.object({ chainPem: z.string(), keyPem: z.string() });

/**
 * Which certificates a server name is offered. `exact` is a full name, `wildcard` is `*.x` and matches one
 * left-most label (RFC 6125 6.4.3), `default` (host `*`) answers names that no other entry covers. The ids point
 * into `certificates`, best first; the first one that the client can verify is used.
 */
export const tlsHostSchema = z.object({
  bucket: z.enum(["exact", "wildcard", "default"]),
  host: z.string(),
  certificates: z.array(z.string()).min(1),
  /** `none`: no application protocol (ALPN) is negotiated, since what the connections carry is not known here. */
  applicationProtocols: z.literal("none").optional(),
});

/** All server names of one port. Certificate ids are content hashes of chain and key. */
export const tlsPortSchema = z.object({
  certificates: z.record(z.string(), certificateSchema),
  hosts: z.array(tlsHostSchema),
});

export type Certificate = Readonly<z.infer<typeof certificateSchema>>;
export type TlsHost = Readonly<Omit<z.infer<typeof tlsHostSchema>, "certificates">> & {
  readonly certificates: readonly string[];
};
export type TlsPort = {
  readonly certificates: { readonly [id: string]: Certificate };
  readonly hosts: readonly TlsHost[];
};
