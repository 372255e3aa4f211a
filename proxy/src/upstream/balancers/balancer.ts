import type { PickRequest, UpstreamEndpoint } from "../upstream.ts";

/**
 * Picks among a fixed set of endpoints, on the hot path. It is replaced whenever the endpoints change; the state of the
 * algorithm is in its balancer.
 */
export type Picker = {
  /**
   * Returns the endpoint of the next request, among those that are not `excluded`; undefined if there is none. Callers
   * without exclusions omit the set, so that the usual case has no cost.
   */
  pick(request: PickRequest, excluded?: ReadonlySet<UpstreamEndpoint>): UpstreamEndpoint | undefined;
};

/** The state of one algorithm for one upstream (docs/features/load-balancing.md). */
export type Balancer = {
  /**
   * Returns a picker over these endpoints that continues where the previous one stopped. Unchanged endpoints are the
   * same objects.
   */
  update(endpoints: readonly UpstreamEndpoint[]): Picker;
};
