import type { Retry } from "@svc-gateway/common/features/retry.ts";
import type { Filter, RetryPlan } from "../exchange/filter.ts";

/** Plans retries of failed attempts of the route. See docs/features/retry.md. */
export function retryFilter({ attempts, codes, grpcCodes, backoffMs = 0 }: Retry): Filter {
  const plan: RetryPlan = { attempts, codes: new Set(codes), grpcCodes: new Set(grpcCodes), backoffMs };
  return {
    slug: "retry",
    onRequest(exchange) {
      exchange.retry = plan;
      return undefined;
    },
  };
}
