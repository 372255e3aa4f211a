import { z } from "zod";
import { backendPolicySchema, type BackendPolicy } from "../features/backend-policy.ts";
import { balancingSchema, type Balancing } from "./balancing.ts";

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
  /** How the addresses are chosen and spoken to. Here, not in the routes: a Service has one policy, routes are many. */
  policy: backendPolicySchema.optional(),
  /** Connections use TLS by this BackendTLSPolicy (`namespace/name`) or other settings, a resource `backendtls|`; absent: cleartext. */
  tls: z.string().optional(),
  /** With `tls`: requests that came without TLS are sent without it. A proxy that does not know this sends them with it. */
  tlsFollowsClient: z.literal(true).optional(),
  /**
   * How its policy chooses among the addresses, where a text of several parts is hashed: before `policy.loadBalancer`, for requests
   * whose text is not empty, of routes that do not say it themselves.
   */
  balancing: balancingSchema.optional(),
  /** Every request is sent over this protocol, also where its route names another; absent: the route decides. */
  protocol: z.enum(["http2"]).optional(),
  /**
   * The names are outside the cluster and chosen by a tenant: connections to loopback, unspecified and link-local addresses are
   * refused (docs/security.md).
   */
  external: z.literal(true).optional(),
});

export type Endpoint = Readonly<z.infer<typeof endpointSchema>>;
export type EndpointSet = Readonly<
  Omit<z.infer<typeof endpointSetSchema>, "addresses" | "policy" | "balancing">
> & {
  readonly addresses: readonly Endpoint[];
  readonly policy?: BackendPolicy | undefined;
  readonly balancing?: Balancing | undefined;
};
