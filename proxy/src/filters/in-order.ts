import type { Filter } from "../exchange/filter.ts";

type OnRequest = NonNullable<Filter["onRequest"]>;

/** Runs checks one after another; the first that answers the request ends it. A single check is left as it is. */
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
