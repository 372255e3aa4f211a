import type { Retry } from "@svc-gateway/common/features/retry.ts";
import type { Filter, RetryPlan } from "../exchange/filter.ts";

/** Plans retries of failed attempts of the route. See docs/features/retry.md. */
export function retryFilter(feature: Retry): Filter {
  const { attempts, codes, grpcCodes, conditions, backoffMs = 0 } = feature;
  const plan: RetryPlan = {
    attempts,
    codes: new Set(codes),
    grpcCodes: new Set(grpcCodes),
    backoffMs,
    conditions: conditions && new Set(conditions),
    everyMethod: feature.everyMethod === true,
    withinMs: feature.withinMs ?? Number.POSITIVE_INFINITY,
  };
  return {
    slug: "retry",
    onRequest(exchange) {
      exchange.retry = plan;
      return undefined;
    },
  };
}
