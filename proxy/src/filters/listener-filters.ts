import type { ListenerFilter } from "@svc-gateway/common/ir/route.ts";
import type { Filter } from "../exchange/filter.ts";
import type { LocalReply } from "../message/local-reply.ts";
import { compileFilters } from "./compile.ts";
import type { FilterEnvironment } from "./environment.ts";

/** The filters of a listener, both as written in the snapshot and compiled. */
export type ListenerFilters = {
  readonly written: readonly ListenerFilter[];
  readonly compiled: readonly Filter[];
};

/** The reply of a filter that cannot be resolved. */
export const unresolvedFilter: LocalReply = { status: 500, error: "listener filter not resolved" };
const refusing: Filter = { slug: "listener-filters", onRequest: () => unresolvedFilter };

/**
 * Builds the filters of a listener; undefined when there are none to run. They run in the order of the list; the order
 * of filters/order.ts applies within an entry. See docs/features/listener-filters.md.
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
 * Makes limits count per filter of the listener (`<kind>/<namespace>/<name>/<section>`), over all its hosts: no route
 * has been chosen yet to count for.
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

/** Makes the rewritten path the one that routes match and that is logged, because no route has been chosen yet. */
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
