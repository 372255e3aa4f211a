import type { Filter } from "../filters/filter.ts";
import type { Exchange } from "./exchange.ts";
import type { BodySink, ResponseHead } from "./message.ts";

/**
 * Shows the head of a response to the filters, those of the backend first because they are nearer to the upstream:
 * the route has the last word. Before a backend has been chosen there is only the route (docs/filter-order.md).
 */
export function applyResponseFilters(exchange: Exchange, head: ResponseHead): void {
  for (const filter of exchange.backendFilters) filter.onResponse?.(exchange, head);
  if (exchange.route === undefined) return;
  for (const filter of exchange.route.filters) filter.onResponse?.(exchange, head);
}

/** Makes the sink that writes to the client; asked only when a filter wants to stand in front of it. */
type ClientSide = { clientSink(): BodySink };

/**
 * Lets the filters put transformations in front of the client; undefined when none does. Like the head, the body
 * passes the backend's filters first.
 */
export function transformBody(
  exchange: Exchange,
  head: ResponseHead,
  client: ClientSide,
): BodySink | undefined {
  const filters = exchange.route?.filters;
  const sink = filters === undefined ? undefined : wrap(filters, exchange, head, undefined, client);
  return wrap(exchange.backendFilters, exchange, head, sink, client);
}

function wrap(
  filters: readonly Filter[],
  exchange: Exchange,
  head: ResponseHead,
  inner: BodySink | undefined,
  client: ClientSide,
): BodySink | undefined {
  let sink = inner;
  for (const filter of filters) {
    if (filter.transformBody === undefined) continue;
    sink = filter.transformBody(exchange, head, sink ?? client.clientSink()) ?? sink;
  }
  return sink;
}
