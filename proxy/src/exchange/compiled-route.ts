import type { SessionAffinity } from "@svc-gateway/common/ir/session-affinity.ts";
import type { RouteGroup } from "@svc-gateway/common/ir/keys.ts";
import type { RequestMetrics } from "../telemetry/metrics.ts";
import type { DemandedRules } from "../tls/client-validation.ts";
import type { CompiledBalancing, PickRequest, Upstream } from "../upstream/upstream.ts";
import type { Filter } from "./filter.ts";
import type { Observer } from "./observer.ts";
import type { RouteQuery } from "./route-query.ts";

/**
 * A route prepared when a snapshot is applied, so that a request does no work that could be done once. It is the same one
 * on all ports that serve its host, and keeps nothing of its resource that no request needs.
 */
export type CompiledRoute = {
  readonly id: string;
  /** The kind of its owner: what clients see of the listener may differ between Gateways and Ingresses that share a socket. */
  readonly group: RouteGroup;
  /** The namespace of the object that the route comes from. */
  readonly namespace: string;
  /** The path of the match, for the access log's `pattern` mode. */
  readonly pattern: string;
  /** False when this route writes no access-log line. */
  readonly accessLog: boolean;
  /** How its requests are logged; undefined: as those of its listener. */
  readonly observer?: Observer | undefined;
  /** Whether the rule has timeouts of its own, so that the request timeout of the whole proxy does not hold. */
  readonly hasOwnTimeouts: boolean;
  /** The filters that this route uses, in the order of filters/order.ts. */
  readonly filters: readonly Filter[];
  /** Client certificates that it demands besides those that its host does; undefined: none. */
  readonly clients: DemandedRules | undefined;
  /** Metric children of (listener port, route), looked up when a request has matched, so that only routes in use have series. */
  metricsOf(listener: string): RequestMetrics;
  /** How it keeps sessions on endpoints; undefined: as the policies of its Services say. */
  readonly affinity?: SessionAffinity | undefined;
  /** Picks the backend of a request; never throws. */
  readonly pickBackend: PickBackend;
};

export type PickBackend = (request: BackendRequest) => CompiledBackend;

/** What the choice of a backend may look at; an Exchange is one. */
export type BackendRequest = PickRequest & Pick<RouteQuery, "host" | "method">;

/** A backend that requests can be sent to; `upstream` is always the present one. */
export type CompiledUpstream = {
  readonly kind: "upstream";
  readonly upstream: Upstream;
  readonly filters: readonly Filter[];
  /** The session affinity of the route does not apply to it. */
  readonly unbound?: boolean;
  /** How the route chooses among its endpoints; undefined: as the policy of its Service says. */
  readonly balancing?: CompiledBalancing | undefined;
  /** Each request gets a connection of its own. */
  readonly closes?: boolean;
  /** The backend of requests that came over TLS; undefined: the same one. */
  readonly whenSecure?: CompiledUpstream | undefined;
};

/** A backend of a route: an upstream, or the status that answers its share. */
export type CompiledBackend = CompiledUpstream | { readonly kind: "status"; readonly status: number };
