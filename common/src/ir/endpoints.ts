import { z } from "zod";

/** One network endpoint. `host` is an IP address, or a DNS name when the set says `resolve: "dns"`. */
export const endpointSchema = z.object({ host: z.string(), port: z.int().min(1).max(65535) });

/**
 * The endpoints of one Service port, a resource of its own so that a rollout changes no route.
 * Addresses are sorted by host, then port, without duplicates.
 */
export const endpointSetSchema = z.object({
  /** `namespace/name` of the Service. */
  service: z.string(),
  /** `static`: addresses are IPs. `dns`: the proxy resolves each host (ExternalName). */
  resolve: z.enum(["static", "dns"]),
  addresses: z.array(endpointSchema),
});

export type Endpoint = Readonly<z.infer<typeof endpointSchema>>;
export type EndpointSet = Readonly<Omit<z.infer<typeof endpointSetSchema>, "addresses">> & {
  readonly addresses: readonly Endpoint[];
};
