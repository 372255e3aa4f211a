import type { Exchange } from "../exchange/exchange.ts";
import type { BodyTransform, Filter } from "../exchange/filter.ts";
import type { BodySink, ResponseHead } from "../message/message.ts";

/**
 * Runs the response filters on the head of a response. Those of the backend run first, because they are nearer to the
 * upstream, so those of the route take precedence. Before a backend has been chosen only those of the route run
 * (docs/filter-order.md). Fields that checks add for the client are already in the head, as if the upstream had sent
 * them.
 */
export function applyResponseFilters(exchange: Exchange, head: ResponseHead): void {
  exchange.requestIds?.answer(head.headers, exchange.requestId);
  if (exchange.clientFields !== undefined) head.headers.put(exchange.clientFields);
  runResponseFilters(exchange.backendFilters, exchange, head);
  if (exchange.route !== undefined) runResponseFilters(exchange.route.filters, exchange, head);
}

function runResponseFilters(filters: readonly Filter[], exchange: Exchange, head: ResponseHead): void {
  for (let i = 0; i < filters.length; i++) filters[i]?.onResponse?.(exchange, head);
}

/** The two ends of a chain of body transformations. */
type Sides = {
  /** Creates a sink that writes to the client; called only when a filter transforms the body. */
  clientSink(): BodySink;
  /** Resumes the upstream. */
  resume(): void;
};

/**
 * Builds the chain of body transformations that the filters request; undefined if none does. Like the head, the body
 * passes the filters of the backend first.
 */
export function transformBody(
  exchange: Exchange,
  head: ResponseHead,
  sides: Sides,
): BodyTransform | undefined {
  const { route, backendFilters } = exchange;
  if (route === undefined || (route.filters.length === 0 && backendFilters.length === 0)) return undefined;
  const chain = addTransforms(undefined, route.filters, exchange, head, sides);
  const whole = addTransforms(chain, backendFilters, exchange, head, sides);
  return whole === undefined || whole.length === 1 ? whole?.[0] : join(whole);
}

/** Adds the transformations of filters to a chain that begins at the client. */
function addTransforms(
  present: BodyTransform[] | undefined,
  filters: readonly Filter[],
  exchange: Exchange,
  head: ResponseHead,
  sides: Sides,
): BodyTransform[] | undefined {
  let chain = present;
  for (const filter of filters) {
    if (filter.transformBody === undefined) continue;
    const place = chain?.length ?? 0;
    const upstream = { resume: (): void => (chain?.[place + 1] ?? sides).resume() };
    const transform = filter.transformBody(exchange, head, {
      client: chain?.at(-1) ?? sides.clientSink(),
      upstream,
    });
    if (transform !== undefined) (chain ??= []).push(transform);
  }
  return chain;
}

/** Joins several transformations into one: the body enters at the last one, the client resumes the first one. */
function join(chain: readonly BodyTransform[]): BodyTransform {
  const first = chain[0] as BodyTransform;
  const last = chain.at(-1) as BodyTransform;
  return {
    onData: (chunk) => last.onData(chunk),
    onEnd: (trailers) => last.onEnd(trailers),
    onAbort: (reason) => last.onAbort(reason),
    resume: () => first.resume(),
    cancel: () => {
      for (const transform of chain) transform.cancel();
    },
  };
}
