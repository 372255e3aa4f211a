import type { RouteFeatures } from "@svc-gateway/common/features/registry.ts";
import type { Timeouts } from "@svc-gateway/common/features/timeouts.ts";
import type { Filter } from "../exchange/filter.ts";

/** Adds the default timeout of an attempt, in milliseconds (0 for none), to features that do not set one. */
export function withDefaultTimeout(
  features: RouteFeatures | undefined,
  backendTimeoutMs: number,
): RouteFeatures | undefined {
  const own = features?.timeouts;
  if (backendTimeoutMs === 0 || own?.replacesDefaults === true) return features;
  return { ...features, timeouts: { backendTimeoutMs, ...own } };
}

/** Sets the timeouts of the request and of its attempts. See docs/features/timeouts.md. */
export function timeoutsFilter(timeouts: Timeouts): Filter {
  const { requestTimeoutMs, replacesDefaults: _, ...upstream } = timeouts;
  const limitsUpstream = Object.values(upstream).some((limit) => limit !== undefined);
  return {
    slug: "timeouts",
    onRequest(exchange) {
      if (limitsUpstream) exchange.upstreamTimeouts = upstream;
      if (requestTimeoutMs !== undefined) exchange.limitTo(requestTimeoutMs);
      return undefined;
    },
  };
}
