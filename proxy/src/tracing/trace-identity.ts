import type { TraceContext } from "./trace-context.ts";

export type TraceIdentity = {
  readonly traceId: string;
  /** The span of the request in this proxy. */
  readonly spanId: string;
  /** The context that the caller sent; undefined if the trace begins here. */
  readonly caller: TraceContext | undefined;
  readonly flags: number;
  readonly isSampled: boolean;
};
