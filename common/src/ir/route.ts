import { z } from "zod";
import { pathLevelSchema, type PathLevel } from "../features/path-normalize.ts";
import { routeFeaturesSchema, type RouteFeatures } from "../features/registry.ts";
import { balancingSchema, type Balancing } from "./balancing.ts";
import { clientRulesSchema, type ClientRules } from "./client-certificate.ts";
import { observationSchema, type Observation } from "./observation.ts";
import { routeMatchSchema, type RouteMatch } from "./match.ts";
import { sessionAffinitySchema, type SessionAffinity } from "./session-affinity.ts";

/**
 * A share of a route's traffic. `endpoints` names an endpoint set (`namespace/service/port`). With `status` instead,
 * that share is answered with a fixed status, because its backend is invalid (500) or missing (503), or no rule covers
 * the path (404).
 */
export const backendSchema = z.object({
  weight: z.int().min(0).max(1_000_000),
  /** `namespace/name` of the Service, for logs and metrics; empty without a Service. */
  service: z.string(),
  endpoints: z.string().optional(),
  /** `http1`: cleartext HTTP/1.1. `http2`: HTTP/2 with prior knowledge (RFC 9113 3.3). */
  protocol: z.enum(["http1", "http2"]),
  status: z.int().min(400).max(599).optional(),
  /** Set if the status is not for the backend, but for a filter that does not exist or is not supported. */
  fault: z.literal("filter").optional(),
  /** Whether each request over HTTP/1.1 gets its own connection, which the backend is asked to close afterwards. */
  closes: z.literal(true).optional(),
  /** The endpoint set of requests received over TLS, where it differs from `endpoints`. */
  secureEndpoints: z.string().optional(),
  /** Whether the backend is excluded from the session affinity of the route. */
  unbound: z.literal(true).optional(),
  /** The balancing of this route; if absent, the policy of the Service decides. */
  balancing: balancingSchema.optional(),
  features: routeFeaturesSchema.optional(),
});

/** Weights of the backends, in their order, for requests that match a condition. */
export const backendChoiceSchema = z.object({
  when: routeMatchSchema.omit({ path: true }),
  weights: z.array(z.int().min(0).max(1_000_000)),
});

/** One match of one rule. It contains, as data, everything that is done with a matching request. */
export const routeSchema = z.object({
  /** Route identifier of metrics and access log, see docs/reference/access-log.md. */
  id: z.string(),
  /** The object that defines the route. */
  source: z.object({ kind: z.string(), namespace: z.string(), name: z.string() }),
  match: routeMatchSchema,
  /** The backends. If the list is empty or all weights are 0, requests are answered 500. */
  backends: z.array(backendSchema),
  /** Alternative weights: the first entry whose condition a request matches replaces the weights of the backends. */
  choices: z.array(backendChoiceSchema).optional(),
  /** The session affinity of the route; if absent, the policies of the Services decide. */
  affinity: sessionAffinitySchema.optional(),
  features: routeFeaturesSchema.optional(),
  /**
   * Whether the route is a default backend: tried only if no other route of the host matches, including those with
   * regular expressions, although its path `/` is a prefix of every path.
   */
  fallback: z.literal(true).optional(),
  /**
   * The tier of the route, 0 if absent. Every route of a lower tier takes precedence over this one, for all paths.
   * Routes of one host are in several tiers if their own host names are not equally narrow (Gateway API, "Hostnames" of
   * routes).
   */
  tier: z.int().min(0).optional(),
  /** With `false`, no access-log line is written for this route. */
  accessLog: z.boolean().optional(),
  /** The logging and tracing of the requests, for routes of Ingresses; if absent, the flags of the proxy decide. */
  observation: observationSchema.optional(),
  /** The requirements of the route on TLS connections, in addition to those of its host; if absent, there are none. */
  clients: clientRulesSchema.optional(),
});

/**
 * A filter of a listener. A filter without features cannot be applied: its purpose is unknown, so every request that
 * reaches it is answered 500.
 */
export const listenerFilterSchema = z.object({ features: routeFeaturesSchema.optional() });

/**
 * The routes of one (port, host), in order of precedence: of two matching routes of one tier with the same path match
 * type and length, the earlier wins. See docs/routing.md.
 */
export const hostRoutesSchema = z.object({
  /**
   * The listener that owns the host. With `inherit`, a request that no route here matches is tried at the less specific
   * hosts of the same listener (Gateway API host name precedence); without it, the answer is 404.
   */
  listener: z.string(),
  inherit: z.boolean(),
  /**
   * The Gateway (`namespace/name`) whose resource `backendcert|` holds the certificate that is presented to backends
   * with TLS.
   */
  clientCertificate: z.string().optional(),
  /** The requirements of the host on TLS connections; if absent, there are none. */
  clients: clientRulesSchema.optional(),
  /** The level of path normalisation for requests to this host, `base` if absent. Set for Ingress hosts only. */
  pathLevel: pathLevelSchema.optional(),
  /**
   * With `decoded`, paths are compared with all escapes decoded, slashes merged and dot segments removed, while
   * requests are forwarded in canonical form. If absent, the canonical path is compared. See docs/routing.md, "Paths".
   */
  matchPaths: z.literal("decoded").optional(),
  /**
   * The filters of the listener, which run in this order on every request for the host before a route is selected; if
   * absent, there are none. See docs/features/listener-filters.md.
   */
  filters: z.array(listenerFilterSchema).optional(),
  routes: z.array(routeSchema),
});

export type Backend = Readonly<Omit<z.infer<typeof backendSchema>, "features" | "balancing">> & {
  readonly balancing?: Balancing | undefined;
  readonly features?: RouteFeatures | undefined;
};
export type Route = Readonly<
  Omit<
    z.infer<typeof routeSchema>,
    "match" | "backends" | "choices" | "affinity" | "features" | "source" | "clients" | "observation"
  >
> & {
  readonly source: { readonly kind: string; readonly namespace: string; readonly name: string };
  readonly match: RouteMatch;
  readonly backends: readonly Backend[];
  readonly choices?: readonly BackendChoice[] | undefined;
  readonly affinity?: SessionAffinity | undefined;
  readonly features?: RouteFeatures | undefined;
  readonly clients?: ClientRules | undefined;
  readonly observation?: Observation | undefined;
};
export type BackendChoice = {
  readonly when: Omit<RouteMatch, "path">;
  readonly weights: readonly number[];
};
export type ListenerFilter = { readonly features?: RouteFeatures | undefined };
export type HostRoutes = {
  readonly listener: string;
  readonly inherit: boolean;
  readonly clientCertificate?: string | undefined;
  readonly clients?: ClientRules | undefined;
  readonly pathLevel?: PathLevel | undefined;
  readonly matchPaths?: "decoded" | undefined;
  readonly filters?: readonly ListenerFilter[] | undefined;
  readonly routes: readonly Route[];
};
