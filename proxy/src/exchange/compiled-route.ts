import type { SessionAffinity } from "@svc-gateway/common/ir/session-affinity.ts";
import type { RouteGroup } from "@svc-gateway/common/ir/keys.ts";
import type { RequestMetrics } from "../telemetry/metrics.ts";
import type { DemandedRules } from "../tls/client-validation.ts";
import type { CompiledBalancing, PickRequest, Upstream } from "../upstream/upstream.ts";
import type { Filter } from "./filter.ts";
import type { Observer } from "./observer.ts";
import type { RouteQuery } from "./route-query.ts";

/**
 * A route prepared when a snapshot is applied, so that no work is repeated for each request. All ports that serve its
 * host share one object, which keeps only those parts of its resource that requests need.
 */
export type CompiledRoute = {
  readonly id: string;
  /** The kind of the owner: Gateways and Ingresses that share a socket can differ in public port and observer. */
  readonly group: RouteGroup;
  /** The namespace of the object that the route comes from. */
  readonly namespace: string;
  /** The path of the match, for the access log's `pattern` mode. */
  readonly pattern: string;
  /** False when this route writes no access-log line. */
  readonly accessLog: boolean;
  /** How its requests are logged and traced; undefined if the route sets nothing (`observerOf`). */
  readonly observer?: Observer | undefined;
  /** Whether the rule sets its own timeouts; if so, the request timeout of the whole proxy does not apply. */
  readonly hasOwnTimeouts: boolean;
  /** The filters that this route uses, in the order of filters/order.ts. */
  readonly filters: readonly Filter[];
  /** The rules for client certificates that apply in addition to those of the host; undefined for none. */
  readonly clients: DemandedRules | undefined;
  /**
   * Returns the metric children of (listener port, route). They are looked up when a request has matched, so that only
   * routes in use have series.
   */
  metricsOf(listener: string): RequestMetrics;
  /** The session affinity of the route; undefined to use the policies of its Services. */
  readonly affinity?: SessionAffinity | undefined;
  /** Picks the backend of a request; never throws. */
  readonly pickBackend: PickBackend;
};

export type PickBackend = (request: BackendRequest) => CompiledBackend;

/** The parts of a request that the choice of a backend can depend on; an Exchange is one. */
export type BackendRequest = PickRequest & Pick<RouteQuery, "host" | "method" | "authority">;

/** A backend that requests can be sent to; `upstream` is always the current one. */
export type CompiledUpstream = {
  readonly kind: "upstream";
  readonly upstream: Upstream;
  readonly filters: readonly Filter[];
  /** True if the session affinity of the route does not apply to this backend. */
  readonly unbound?: boolean;
  /** How the route selects an endpoint; undefined to use the policy of the Service. */
  readonly balancing?: CompiledBalancing | undefined;
  /** True if each request gets a dedicated connection. */
  readonly closes?: boolean;
  /** The backend for requests received over TLS; undefined if it is the same one. */
  readonly whenSecure?: CompiledUpstream | undefined;
};

/** A share of requests that is answered with a status, because its backend or, with `fault`, a filter is invalid. */
export type UnservedShare = {
  readonly kind: "status";
  readonly status: number;
  readonly fault?: "filter";
};

/** A backend of a route: an upstream, or the status that answers its share of the requests. */
export type CompiledBackend = CompiledUpstream | UnservedShare;
