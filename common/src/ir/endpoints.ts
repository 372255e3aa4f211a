import { z } from "zod";
import { backendPolicySchema, type BackendPolicy } from "../features/backend-policy.ts";
import { balancingSchema, type Balancing } from "./balancing.ts";

/** One network endpoint. `host` is an IP address, or a DNS name in a set with `resolve: "dns"`. */
export const endpointSchema = z.object({ host: z.string(), port: z.int().min(1).max(65535) });

/**
 * The endpoints of one Service port. It is a separate resource, so that a rollout changes no route. Addresses are
 * sorted by host, then port, without duplicates.
 */
export const endpointSetSchema = z.object({
  /** `namespace/name` of the Service. */
  service: z.string(),
  /** `static`: addresses are IPs. `dns`: the proxy resolves each host (ExternalName). */
  resolve: z.enum(["static", "dns"]),
  addresses: z.array(endpointSchema),
  /**
   * The policy by which addresses are selected and connected to. It is part of this resource because a Service has one
   * policy but many routes.
   */
  policy: backendPolicySchema.optional(),
  /**
   * The name of the resource `backendtls|` by which connections use TLS: a BackendTLSPolicy (`namespace/name`) or other
   * settings. If absent, connections are cleartext.
   */
  tls: z.string().optional(),
  /**
   * With `tls`, whether requests received without TLS are forwarded without it. Proxies of releases without this field
   * forward them with TLS.
   */
  tlsFollowsClient: z.literal(true).optional(),
  /**
   * The balancing of the policy if the hash key is a text of several parts. It takes precedence over
   * `policy.loadBalancer` for requests with a non-empty text, unless their route has its own balancing.
   */
  balancing: balancingSchema.optional(),
  /** The protocol of every request, which takes precedence over that of the route; if absent, the route decides. */
  protocol: z.enum(["http2"]).optional(),
  /**
   * Whether the names are outside the cluster and chosen by a tenant. Connections to loopback, unspecified and
   * link-local addresses are then refused (docs/security.md).
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
