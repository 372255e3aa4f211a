import type { Retry } from "@svc-gateway/common/features/retry.ts";
import type { Filter } from "../exchange/filter.ts";

/** When a request is sent again, ready to be asked. */
export type RetryPlan = {
  /** Attempts after the first one. */
  readonly attempts: number;
  readonly codes: ReadonlySet<number>;
  readonly grpcCodes: ReadonlySet<number>;
  /** Shortest wait before each retry in milliseconds, 0 for none. */
  readonly backoffMs: number;
};

/** Lets failed attempts of the route be repeated. See docs/features/retry.md. */
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
