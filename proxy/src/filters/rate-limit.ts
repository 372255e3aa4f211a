import type { RateLimit } from "@svc-gateway/common/features/rate-limit.ts";
import type { RefusalCode } from "@svc-gateway/common/telemetry/refusals/refusal-reasons.ts";
import { compileCidrs, readCidrs } from "@svc-gateway/common/values/cidr.ts";
import { networkOf } from "@svc-gateway/common/values/client-network.ts";
import type { CompiledRoute } from "../exchange/compiled-route.ts";
import type { Exchange } from "../exchange/exchange.ts";
import type { Filter } from "../exchange/filter.ts";
import type { LocalReply } from "../message/local-reply.ts";
import { memoByName } from "../message/name-memo.ts";
import { refused, type ConcurrencyTable } from "../shared/concurrency-table.ts";
import { monotonicMs } from "../shared/monotonic.ts";
import type { Rate, RateCounter, RateStore } from "./rate-store.ts";
import { paceBody } from "./response-pace.ts";

const maxRetryAfterSeconds = 86_400;

/** The longest interval between requests, about four months; lower rates are treated as this one. */
const maxIntervalMs = 1e10;

/** The counters behind the limits per client. */
export type LimitStores = {
  readonly rates: RateStore;
  readonly concurrency: Pick<ConcurrencyTable, "enter" | "leave">;
};

/**
 * Limits each client of the route: first its requests in progress, then its request rates; also limits the pace of
 * responses. A request without an address or key is not counted. See docs/features/rate-limit.md.
 */
export function rateLimitFilter(
  feature: RateLimit,
  stores: LimitStores,
  now: () => number = monotonicMs,
): Filter {
  const { exempt, maxConcurrent, pace } = feature;
  const exempted = exempt && compileCidrs(readCidrs(exempt).cidrs);
  const keyOf = clientKey(feature.byHeader);
  const rates = compileRates(feature, stores.rates, now);
  const zoneOf = ({ route }: Exchange): string =>
    `${route?.namespace ?? ""}/${feature.zone ?? route?.id ?? ""}`;
  return {
    slug: "rate-limit",
    onRequest(exchange) {
      const key = exempted?.contains(exchange.clientIp) === true ? undefined : keyOf(exchange);
      if (key === undefined) return undefined;
      if (maxConcurrent !== undefined) {
        const { concurrency } = stores;
        const entry = concurrency.enter(zoneOf(exchange), key, maxConcurrent);
        if (entry === refused) return tooManyInProgress(feature);
        exchange.whenFinished(() => concurrency.leave(entry));
      }
      return rates(exchange, key);
    },
    ...(pace && {
      transformBody: (_exchange, head, ends) => (head.bodyless ? undefined : paceBody(pace, ends)),
    }),
  };
}

/** The limits of the memo of networks by address. */
const knownAddresses = { maxLength: 64, maxNames: 1_024 };

/** Compiles the key that identifies the client of a request; undefined for a request without one. */
function clientKey(byHeader: string | undefined): (exchange: Exchange) => string | undefined {
  if (byHeader === undefined) {
    const networkOfKnown = memoByName(networkOf, knownAddresses);
    return ({ clientIp }) => {
      if (clientIp === "") return undefined;
      // Parsing an IPv6 address costs ten times what counting its request costs.
      return clientIp.includes(":") ? networkOfKnown(clientIp) : clientIp;
    };
  }
  if (byHeader === "host") return ({ host }) => host;
  return ({ headers }) => headers.joined(byHeader);
}

const tooManyInProgress = ({ concurrentStatus }: RateLimit): LocalReply => ({
  ...(concurrentStatus === undefined
    ? { status: 429, headers: ["Retry-After", "1"] }
    : { status: concurrentStatus }),
  error: "too many requests in progress",
});

/** Refuses a request that one of the rates does not admit. No rate counts a refused request. */
function compileRates(
  feature: RateLimit,
  store: RateStore,
  now: () => number,
): (exchange: Exchange, key: string) => LocalReply | undefined {
  const { status } = feature;
  const all = ratesOf(feature);
  const reasons = reasonsOf(feature);
  const countersOf = compileCounters(store, feature.zone, all.length);
  return (exchange, key) => {
    if (all.length === 0) return undefined;
    const counters = countersOf(exchange.route);
    const nowMs = now();
    for (const [index, rate] of all.entries()) {
      const waitMs = counters[index]?.take(key, rate, nowMs) ?? 0;
      if (waitMs === 0) continue;
      for (let taken = 0; taken < index; taken++) counters[taken]?.giveBack(key, all[taken] as Rate, nowMs);
      const cause = {
        error: "rate limit exceeded",
        reason: reasons[index] ?? "requests-per-period",
      } as const;
      if (status !== undefined) return { status, ...cause };
      const seconds = Math.min(Math.max(1, Math.ceil(waitMs / 1000)), maxRetryAfterSeconds);
      return { status: 429, headers: ["Retry-After", String(seconds)], ...cause };
    }
    return undefined;
  };
}

function ratesOf({ requestsPerSecond, burst = 0, rates = [] }: RateLimit): readonly Rate[] {
  const others = rates.map(({ requests, periodMs, capacity }): Rate => {
    const intervalMs = Math.min(periodMs / requests, maxIntervalMs);
    return { intervalMs, capacityMs: capacity * intervalMs };
  });
  if (requestsPerSecond === undefined) return others;
  const intervalMs = Math.min(1000 / requestsPerSecond, maxIntervalMs);
  // The first request must pass even with less than one request per second and no burst.
  return [{ intervalMs, capacityMs: Math.max(1, requestsPerSecond + burst) * intervalMs }, ...others];
}

/** The reason with which each rate refuses, for log and metrics, in the order of `ratesOf`. */
function reasonsOf({ requestsPerSecond, rates = [] }: RateLimit): readonly RefusalCode[] {
  const others = rates.map(({ periodMs }) => reasonsByPeriod.get(periodMs) ?? "requests-per-period");
  return requestsPerSecond === undefined ? others : ["requests-per-second", ...others];
}

const reasonsByPeriod: ReadonlyMap<number, RefusalCode> = new Map([
  [1_000, "requests-per-second"],
  [60_000, "requests-per-minute"],
]);

/** Returns the counters of a route. Routes with equal features share a filter, but count on their own or by zone. */
function compileCounters(
  store: RateStore,
  zone: string | undefined,
  count: number,
): (route: CompiledRoute | undefined) => readonly RateCounter[] {
  const known = new WeakMap<CompiledRoute, readonly RateCounter[]>();
  let ofListener: readonly RateCounter[] | undefined;
  const create = (namespace: string, name: string): readonly RateCounter[] =>
    // The first counter has the bare name, which is the name of the counter of a route with a single rate.
    Array.from({ length: count }, (_, index) =>
      store.counter(namespace, index === 0 ? name : `${name} ${index}`),
    );
  return (route) => {
    if (route === undefined) return (ofListener ??= create("", ""));
    let counters = known.get(route);
    if (counters === undefined) known.set(route, (counters = create(route.namespace, zone ?? route.id)));
    return counters;
  };
}
