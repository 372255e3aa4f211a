import type { Timeouts } from "@svc-gateway/common/features/timeouts.ts";
import type { Filter } from "./filter.ts";

/** Sets the limits that hold while the request is forwarded. See docs/features/timeouts.md. */
export const timeoutsFilter = (timeouts: Timeouts): Filter => ({
  slug: "timeouts",
  onRequest(exchange) {
    exchange.upstreamTimeouts = timeouts;
    return undefined;
  },
});
