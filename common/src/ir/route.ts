import { z } from "zod";
import { pathLevelSchema, type PathLevel } from "../features/path-normalize.ts";
import { routeFeaturesSchema, type RouteFeatures } from "../features/registry.ts";
import { balancingSchema, type Balancing } from "./balancing.ts";
import { clientRulesSchema, type ClientRules } from "./client-certificate.ts";
import { observationSchema, type Observation } from "./observation.ts";
import { routeMatchSchema, type RouteMatch } from "./match.ts";
import { sessionAffinitySchema, type SessionAffinity } from "./session-affinity.ts";

/**
 * A share of a route's traffic. `endpoints` names an endpoint set (`namespace/service/port`); `status` instead
 * answers that share with a fixed status, because its backend is invalid (500) or missing (503), or no rule names the path (404).
 */
export const backendSchema = z.object({
  weight: z.int().min(0).max(1_000_000),
  /** `namespace/name` of the Service, for logs and metrics; empty when there is none. */
  service: z.string(),
  endpoints: z.string().optional(),
  /** `http1`: cleartext HTTP/1.1. `http2`: HTTP/2 with prior knowledge (RFC 9113 3.3). */
  protocol: z.enum(["http1", "http2"]),
  status: z.int().min(400).max(599).optional(),
  /** Each request over HTTP/1.1 gets a connection of its own, which the backend is asked to close after it. */
  closes: z.literal(true).optional(),
  /** The endpoint set of requests that came over TLS, where it differs from `endpoints`. */
  secureEndpoints: z.string().optional(),
  /** The session affinity of the route does not apply to it. */
  unbound: z.literal(true).optional(),
  /** Absent: the policy of the Service decides. */
  balancing: balancingSchema.optional(),
  features: routeFeaturesSchema.optional(),
});

/** Weights of the backends, in their order, for requests that meet a condition. */
export const backendChoiceSchema = z.object({
  when: routeMatchSchema.omit({ path: true }),
  weights: z.array(z.int().min(0).max(1_000_000)),
});

/** One match of one rule. Everything that happens to a matching request is data here. */
export const routeSchema = z.object({
  /** Route identifier of metrics and access log, see docs/reference/access-log.md. */
  id: z.string(),
  /** The object that the route comes from. */
  source: z.object({ kind: z.string(), namespace: z.string(), name: z.string() }),
  match: routeMatchSchema,
  /** An empty list, or weights that are all 0, answer 500. */
  backends: z.array(backendSchema),
  /** The first one whose condition a request meets replaces the weights of the backends. */
  choices: z.array(backendChoiceSchema).optional(),
  /** Absent: the policies of the Services decide about sessions. */
  affinity: sessionAffinitySchema.optional(),
  features: routeFeaturesSchema.optional(),
  /**
   * A default backend: tried only when no other route of the host matches, regular expressions included, although
   * its path `/` is a prefix of every path.
   */
  fallback: z.literal(true).optional(),
  /**
   * Every route of a lower tier comes before this one, for any paths; absent: 0. Routes of one host are in several
   * tiers when their own host names are not equally narrow (Gateway API, "Hostnames" of routes).
   */
  tier: z.int().min(0).optional(),
  /** `false` writes no access-log line for this route. */
  accessLog: z.boolean().optional(),
  /** How its requests are logged, of routes of Ingresses; absent: as the flags of the proxy say. */
  observation: observationSchema.optional(),
  /** What the route asks of connections with TLS besides what its host asks; absent: nothing. */
  clients: clientRulesSchema.optional(),
});

/**
 * A filter of a listener. One without features cannot be followed: what it was to keep away is not known, so every request
 * that gets to it is answered 500.
 */
export const listenerFilterSchema = z.object({ features: routeFeaturesSchema.optional() });

/**
 * The routes of one (port, host), in order of precedence: of two matching routes of one tier with the same path match
 * type and length, the earlier wins. See docs/routing.md.
 */
export const hostRoutesSchema = z.object({
  /**
   * Listener that owns the host. With `inherit`, a request that no route here matches goes on to the less specific
   * hosts of the same listener (Gateway API host name precedence); without it the answer is 404.
   */
  listener: z.string(),
  inherit: z.boolean(),
  /** The Gateway (`namespace/name`) whose resource `backendcert|` holds what backends with TLS are shown. */
  clientCertificate: z.string().optional(),
  /** What the host asks of connections with TLS; absent: nothing. */
  clients: clientRulesSchema.optional(),
  /** How far the paths of requests for this host are normalised; absent: `base`. Of Ingress hosts only. */
  pathLevel: pathLevelSchema.optional(),
  /**
   * `decoded`: paths are compared with all escapes decoded, slashes merged and dot segments removed, while requests are
   * forwarded in canonical form; absent: the canonical path is compared. See docs/routing.md, "Paths".
   */
  matchPaths: z.literal("decoded").optional(),
  /**
   * The filters of the listener, which run in this order on every request for the host before a route is looked for; absent:
   * there are none. See docs/features/listener-filters.md.
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
