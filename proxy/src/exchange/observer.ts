import type { Fields } from "../message/fields.ts";
import type { AccessLog } from "../telemetry/access-log.ts";
import type { TracedRequest } from "./traced-request.ts";

/** How requests are logged and traced. The proxy has one, and so can a listener or a class of Ingresses. */
export type Observer = {
  readonly accessLog: AccessLog;
  /** Begins the traces; undefined if the requests are not traced. */
  readonly tracer: RequestTracer | undefined;
};

/** Begins the traces of requests (docs/features/tracing.md). */
export type RequestTracer = {
  /** Begins the trace of a request without changing it. */
  begin(request: TracedRequest): ExchangeTrace;
  /** Returns a tracer for listeners or routes that sample another share of requests, from 0 to 1. */
  withRatio(ratio: number): RequestTracer;
};

/** The trace of a request. */
export type ExchangeTrace = {
  readonly traceId: string;
  /** Whether spans are recorded. */
  readonly isSampled: boolean;
  /** Replaces the trace context of the received request with its own. */
  inject(headers: Fields): void;
  /** Replaces the parent span in the trace context with a new span for the next attempt, and returns its id. */
  injectAttempt(headers: Fields): string;
  /** Passes the spans of the request on for export. Called when it has ended. */
  end(request: TracedRequest): void;
};

/** Adds the ids of requests to their responses (docs/features/access-log.md, "Request ids"). */
export type RequestIdAnswer = { answer(headers: Fields, id: string): void };

/**
 * Returns the observer of a request. The settings of a class apply to its Ingresses, those of a policy to a listener of
 * a Gateway, but not to Ingresses that share its socket.
 */
export function observerOf(
  route: { readonly group: string; readonly observer?: Observer | undefined } | undefined,
  listener: { readonly observer?: Observer | undefined },
  usual: Observer,
): Observer {
  if (route?.observer !== undefined) return route.observer;
  return route?.group === "ingress" ? usual : (listener.observer ?? usual);
}
