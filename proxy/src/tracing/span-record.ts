import type { TraceContext } from "./trace-context.ts";

export type TraceIdentity = {
  readonly traceId: string;
  /** The span of the request in this proxy. */
  readonly spanId: string;
  /** What the request said; undefined where the trace begins here. */
  readonly caller: TraceContext | undefined;
  readonly flags: number;
  readonly isSampled: boolean;
};

/** Takes the spans of one request; false when there is no room for them. */
export type SpanSink = (identity: TraceIdentity, spans: readonly SpanRecord[]) => boolean;

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export type SpanRecord = {
  readonly spanId: string;
  readonly parentId: string | undefined;
  /** The parent is a span of the caller. */
  readonly isParentRemote: boolean;
  readonly kind: "server" | "client";
  readonly name: string;
  /** Milliseconds since the epoch, with fractions. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: SpanAttributes;
  /** Set where the span is an error. */
  readonly error: string | undefined;
};

/** Longer values of attributes are cut: what clients send must not fill the memory of collectors. */
const maxValueLength = 1024;

export const bounded = (text: string): string =>
  text.length <= maxValueLength ? text : text.slice(0, maxValueLength);
