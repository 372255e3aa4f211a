import type { CompiledRoute } from "../exchange/compiled-route.ts";
import type { Exchange } from "../exchange/exchange.ts";
import { type Observer, observerOf } from "../exchange/observer.ts";
import { UpstreamNotes } from "./upstream-notes.ts";

/** Begins the trace of a request with a route, and the notes of its attempts, if its log or trace needs them. */
export function observe(exchange: Exchange, route: CompiledRoute, usual: Observer): void {
  const { accessLog, tracer } = observerOf(route, exchange.connection.listener, usual);
  if (tracer !== undefined) {
    exchange.trace = tracer.begin(exchange);
    exchange.trace.inject(exchange.headers);
  }
  if (accessLog.shows === "times" || exchange.trace?.isSampled === true) exchange.notes = new UpstreamNotes();
}
