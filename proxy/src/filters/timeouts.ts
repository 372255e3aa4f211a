import type { Timeouts } from "@svc-gateway/common/features/timeouts.ts";
import type { Filter } from "./filter.ts";

/** Sets the limits that hold while the request is forwarded. See docs/features/timeouts.md. */
export function timeoutsFilter({ requestTimeoutMs, ...upstream }: Timeouts): Filter {
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
