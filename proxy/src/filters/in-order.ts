import type { Filter } from "../exchange/filter.ts";

type OnRequest = NonNullable<Filter["onRequest"]>;

/** Combines checks into one that runs them sequentially, up to the first that answers the request. */
export function inOrder(checks: readonly OnRequest[]): OnRequest {
  const [only] = checks;
  if (only !== undefined && checks.length === 1) return only;
  return async (exchange) => {
    for (const check of checks) {
      const reply = await check(exchange);
      if (reply !== undefined || exchange.finished) return reply;
    }
    return undefined;
  };
}
