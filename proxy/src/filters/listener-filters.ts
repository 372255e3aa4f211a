import type { ListenerFilter } from "@svc-gateway/common/ir/route.ts";
import type { Filter } from "../exchange/filter.ts";
import type { LocalReply } from "../message/local-reply.ts";
import { compileFilters } from "./compile.ts";
import type { FilterEnvironment } from "./environment.ts";

/** The filters of a listener, as they are in the snapshot and compiled. */
export type ListenerFilters = {
  readonly written: readonly ListenerFilter[];
  readonly compiled: readonly Filter[];
};

/** The reply of a filter that cannot be resolved. */
export const unresolvedFilter: LocalReply = { status: 500, error: "listener filter not resolved" };
const refusing: Filter = { slug: "listener-filters", onRequest: () => unresolvedFilter };

/**
 * Builds the filters of a listener; undefined when there is nothing to run. They keep the order of the list; that of
 * filters/order.ts is for routes. See docs/features/listener-filters.md.
 */
export function compileListenerFilters(
  {
    listener,
    filters: written = [],
  }: { readonly listener: string; readonly filters?: readonly ListenerFilter[] | undefined },
  environment: FilterEnvironment,
): ListenerFilters | undefined {
  const compiled = written.flatMap(({ features }, index) =>
    features === undefined
      ? refusing
      : compileFilters(features, countedFor(listener, index, environment)).map(beforeMatching),
  );
  return compiled.length === 0 ? undefined : { written, compiled };
}

/**
 * Rates are counted for each filter of the listener (`<kind>/<namespace>/<name>/<section>`), on all its hosts together:
 * there is no route yet to count for.
 */
function countedFor(listener: string, index: number, environment: FilterEnvironment): FilterEnvironment {
  const [, namespace = ""] = listener.split("/", 2);
  const { rates, concurrency } = environment;
  const name = `${listener} ${index}`;
  return {
    ...environment,
    rates: { counter: (_, limit) => rates.counter(namespace, limit === "" ? name : `${name}${limit}`) },
    concurrency: {
      enter: (_, key, most) => concurrency.enter(`${namespace}/${name}`, key, most),
      leave: (entry) => concurrency.leave(entry),
    },
  };
}

/** Makes a path that is rewritten before a route is chosen the one that is matched and logged. */
function beforeMatching(filter: Filter): Filter {
  const { slug, onRequest } = filter;
  if (slug !== "rewrite-target" || onRequest === undefined) return filter;
  return {
    slug,
    onRequest(exchange) {
      const verdict = onRequest(exchange);
      exchange.matchedPath = exchange.path;
      return verdict;
    },
  };
}
