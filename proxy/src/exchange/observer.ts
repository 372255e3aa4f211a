import type { Fields } from "../message/fields.ts";
import type { AccessLog } from "../telemetry/access-log.ts";
import type { TracedRequest } from "./traced-request.ts";

/** How requests are logged and traced: of the whole proxy, of a listener, or of a class of Ingresses. */
export type Observer = {
  readonly accessLog: AccessLog;
  /** Undefined: they are not traced. */
  readonly tracer: RequestTracer | undefined;
};

/** Begins the traces of requests (docs/features/tracing.md). */
export type RequestTracer = {
  /** Nothing of the request is changed. */
  begin(request: TracedRequest): ExchangeTrace;
  /** The tracer of listeners or routes that sample another share, from 0 to 1. */
  withRatio(ratio: number): RequestTracer;
};

/** The trace of a request. */
export type ExchangeTrace = {
  readonly traceId: string;
  /** Whether spans are made. */
  readonly isSampled: boolean;
  /** Puts the context of this request in place of the one that it came with. */
  inject(headers: Fields): void;
  /** Puts the span of the next attempt in place of the one before, and returns it. */
  injectAttempt(headers: Fields): string;
  /** Hands the spans of the request over, when it has ended. */
  end(request: TracedRequest): void;
};

/** Shows clients the ids of their requests (docs/features/access-log.md, "Request ids"). */
export type RequestIdAnswer = { answer(headers: Fields, id: string): void };

/**
 * The observer of a request. What a class says holds for its Ingresses, what a policy says for a listener of a Gateway, so not
 * for Ingresses on a socket that both share.
 */
export function observerOf(
  route: { readonly group: string; readonly observer?: Observer | undefined } | undefined,
  listener: { readonly observer?: Observer | undefined },
  usual: Observer,
): Observer {
  if (route?.observer !== undefined) return route.observer;
  return route?.group === "ingress" ? usual : (listener.observer ?? usual);
}
