import { type Cidr, type CidrMatcher, compileCidrs } from "@svc-gateway/common/values/cidr.ts";
import { canonicalIp } from "@svc-gateway/common/values/ip-address.ts";
import type { TracedRequest } from "../exchange/traced-request.ts";
import type { RequestTracer } from "../exchange/observer.ts";
import { newSpanId, newTraceId } from "./random-ids.ts";
import { RequestTrace } from "./request-trace.ts";
import type { SpanSink } from "./request-spans.ts";
import { randomFlag, readTraceContext, sampledFlag, type TraceContext } from "./trace-context.ts";

export type TracerOptions = {
  /** The share of traces that are sampled, from 0 to 1, if the decision is not the caller's. */
  readonly ratio: number;
  /** Whether the sampling decision of the caller applies. */
  readonly followsCaller: boolean;
  /** The peers whose trace context is used; if empty, that of every peer. */
  readonly trustedPeers: readonly Cidr[];
  readonly sink: SpanSink;
  /** Called with the number of spans for which the sink had no room. */
  readonly onDropped: (spans: number) => void;
};

/** Begins the traces of requests to a listener or route. */
export class Tracer implements RequestTracer {
  private readonly options: TracerOptions;
  private readonly peers: CidrMatcher;
  /** Trace ids whose first 32 random bits are below this are sampled. */
  private readonly threshold: number;

  constructor(options: TracerOptions) {
    this.options = options;
    this.peers = compileCidrs(options.trustedPeers);
    this.threshold = options.ratio * 2 ** 32;
  }

  withRatio(ratio: number): Tracer {
    return new Tracer({ ...this.options, ratio });
  }

  begin(request: TracedRequest): RequestTrace {
    const caller = this.takes(request) ? readTraceContext(request.received) : undefined;
    const traceId = caller?.traceId ?? newTraceId();
    const isSampled = this.samples(traceId, caller);
    const flags =
      (isSampled ? sampledFlag : 0) | (caller === undefined ? randomFlag : caller.flags & randomFlag);
    const { sink, onDropped } = this.options;
    return new RequestTrace({ traceId, spanId: newSpanId(), caller, flags, isSampled }, sink, onDropped);
  }

  /** Whether a request's context is used. The proxy's own questions belong to the trace of the request they serve. */
  private takes({ connection }: TracedRequest): boolean {
    if (this.peers.isEmpty || connection.isQuestion === true) return true;
    return this.peers.contains(canonicalIp(connection.remoteAddress) ?? connection.remoteAddress);
  }

  private samples(traceId: string, caller: TraceContext | undefined): boolean {
    if (caller !== undefined && this.options.followsCaller) return (caller.flags & sampledFlag) !== 0;
    // The last 7 octets are the random ones (level 2, 3.2.2.3).
    return Number.parseInt(traceId.slice(-8), 16) < this.threshold;
  }
}
