import type { RateLimit } from "@svc-gateway/common/features/rate-limit.ts";
import { networkOf } from "@svc-gateway/common/values/client-network.ts";
import type { CompiledRoute } from "../exchange/compiled-route.ts";
import type { Exchange } from "../exchange/exchange.ts";
import type { Filter } from "../exchange/filter.ts";
import { joinedField } from "../message/fields.ts";
import { monotonicMs } from "../shared/monotonic.ts";
import type { RateCounter, RateStore } from "./rate-store.ts";

const maxRetryAfterSeconds = 86_400;

/** Lower rates count as one request in four months. */
const maxIntervalMs = 1e10;

/**
 * Bounds the request rate of each client on the route. A request without an address or key is not counted. See
 * docs/features/rate-limit.md.
 */
export function rateLimitFilter(
  { requestsPerSecond, burst, byHeader }: RateLimit,
  store: RateStore,
  now: () => number = monotonicMs,
): Filter {
  const intervalMs = Math.min(1000 / requestsPerSecond, maxIntervalMs);
  // With less than one request per second and no burst, the first request must pass all the same.
  const rate = { intervalMs, capacityMs: Math.max(1, requestsPerSecond + burst) * intervalMs };
  const clientKey =
    byHeader === undefined
      ? ({ clientIp }: Exchange) => (clientIp === "" ? undefined : networkOf(clientIp))
      : byHeader === "host"
        ? ({ host }: Exchange) => host
        : ({ headers }: Exchange) => joinedField(headers, byHeader);
  const counterOf = compileCounters(store);
  return {
    slug: "rate-limit",
    onRequest(exchange) {
      const key = clientKey(exchange);
      if (key === undefined) return undefined;
      const waitMs = counterOf(exchange.route).take(key, rate, now());
      if (waitMs === 0) return undefined;
      const seconds = Math.min(Math.max(1, Math.ceil(waitMs / 1000)), maxRetryAfterSeconds);
      return { status: 429, headers: ["Retry-After", String(seconds)], error: "rate limit exceeded" };
    },
  };
}

/** One filter serves all routes with equal features; each of them counts on its own. */
function compileCounters(store: RateStore): (route: CompiledRoute | undefined) => RateCounter {
  const counters = new WeakMap<CompiledRoute, RateCounter>();
  let ofListener: RateCounter | undefined;
  return (route) => {
    if (route === undefined) return (ofListener ??= store.counter("", ""));
    let counter = counters.get(route);
    if (counter === undefined) counters.set(route, (counter = store.counter(route.namespace, route.id)));
    return counter;
  };
}
