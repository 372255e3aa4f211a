import type { PickRequest, UpstreamEndpoint } from "../upstream.ts";

/**
 * A view of one moment: picks among fixed endpoints, on the hot path. Replaced whenever the endpoints change; what an
 * algorithm has learnt lives in its balancer.
 */
export type Picker = {
  /**
   * The endpoint of the next request, among those that are not `excluded`; undefined when there is none. Without any
   * exclusion nothing is passed, so that the usual case pays nothing for the rare one.
   */
  pick(request: PickRequest, excluded?: ReadonlySet<UpstreamEndpoint>): UpstreamEndpoint | undefined;
};

/** One algorithm at work for one upstream (docs/features/load-balancing.md). */
export type Balancer = {
  /** A picker over these endpoints that goes on where the one before stopped. Endpoints that stay are the same objects. */
  update(endpoints: readonly UpstreamEndpoint[]): Picker;
};
