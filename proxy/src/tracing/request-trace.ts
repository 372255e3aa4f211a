import type { TracedRequest } from "../exchange/traced-request.ts";
import type { ExchangeTrace } from "../exchange/observer.ts";
import { plainName } from "../message/field-list.ts";
import type { Fields } from "../message/fields.ts";
import { memoByName } from "../message/name-memo.ts";
import { newSpanId } from "./random-ids.ts";
import { type SpanSink, writeSpans } from "./request-spans.ts";
import { formatTraceParent } from "./trace-context.ts";
import type { TraceIdentity } from "./trace-identity.ts";

const isContextField = memoByName((name) => {
  const plain = plainName(name);
  return plain === "traceparent" || plain === "tracestate";
});

/** The trace of one request: the trace context that backends get, and the spans that are written at its end. */
export class RequestTrace implements ExchangeTrace {
  private readonly identity: TraceIdentity;
  private readonly sink: SpanSink;
  private readonly onDropped: (spans: number) => void;

  constructor(identity: TraceIdentity, sink: SpanSink, onDropped: (spans: number) => void) {
    this.identity = identity;
    this.sink = sink;
    this.onDropped = onDropped;
  }

  get traceId(): string {
    return this.identity.traceId;
  }

  get isSampled(): boolean {
    return this.identity.isSampled;
  }

  inject(headers: Fields): void {
    const { traceId, spanId, flags, caller } = this.identity;
    headers.removeThat(isContextField);
    headers.append("traceparent", formatTraceParent(traceId, spanId, flags));
    if (caller !== undefined && caller.state !== "") headers.append("tracestate", caller.state);
  }

  injectAttempt(headers: Fields): string {
    const { traceId, flags } = this.identity;
    const spanId = newSpanId();
    headers.replace("traceparent", formatTraceParent(traceId, spanId, flags));
    return spanId;
  }

  end(request: TracedRequest): void {
    if (!this.identity.isSampled) return;
    const dropped = writeSpans(request, this.identity, this.sink);
    if (dropped > 0) this.onDropped(dropped);
  }
}
