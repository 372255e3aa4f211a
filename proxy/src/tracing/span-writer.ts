/**
 * Writes the spans of one request as OTLP (opentelemetry/proto/trace/v1/trace.proto), directly from the request: no
 * object is created for a span, and the names of attributes are encoded once, when the modules are loaded
 * (docs/adr/0034-tracing.md).
 */
import { type AttributeName, type AttributeValue, bounded, writeAttribute } from "./attribute.ts";
import { beginRecord, endRecord } from "./encoded-spans.ts";
import { ProtobufWriter } from "./protobuf-writer.ts";
import type { TraceIdentity } from "./trace-identity.ts";

/** The part of a span that precedes its attributes. */
export type SpanHead = {
  readonly spanId: string;
  readonly parentId: string | undefined;
  /** Whether the parent is a span of the caller. */
  readonly isParentRemote: boolean;
  readonly kind: "server" | "client";
  readonly name: string;
  /** Milliseconds since the epoch, with fractions. */
  readonly startMs: number;
  readonly endMs: number;
};

/** The field numbers of `ScopeSpans`, of `Span`, and of `Status`. */
const spansField = 2;
const span = {
  traceId: 1,
  spanId: 2,
  traceState: 3,
  parentSpanId: 4,
  name: 5,
  kind: 6,
  startTime: 7,
  endTime: 8,
  attributes: 9,
  status: 15,
  flags: 16,
} as const;
const statusFields = { message: 2, code: 3 } as const;

const kinds = { server: 2, client: 3 } as const;
const statusError = 2;
/** The flags of a span: `hasIsRemote` marks `isRemote` as known, and `isRemote` marks the parent as remote. */
const hasIsRemote = 0x100;
const isRemote = 0x200;

/** Writes spans sequentially: one is closed before the next one is opened. */
export class SpanWriter {
  private readonly to = new ProtobufWriter();
  /** The number of spans since `begin`. */
  private spans = 0;
  /** The position at which the open span begins. */
  private begun = 0;

  /** Begins the record of a request, which overwrites the result of `finish`. */
  begin(): void {
    this.spans = 0;
    beginRecord(this.to);
  }

  /** Returns the record, as a view that is valid until the next `begin`. */
  finish(): Uint8Array {
    return endRecord(this.to, this.spans);
  }

  open(identity: TraceIdentity, head: SpanHead): void {
    const { to } = this;
    this.spans++;
    this.begun = to.open(spansField);
    to.hex(span.traceId, identity.traceId);
    to.hex(span.spanId, head.spanId);
    const state = identity.caller?.state ?? "";
    if (state !== "") to.text(span.traceState, state);
    if (head.parentId !== undefined) to.hex(span.parentSpanId, head.parentId);
    to.text(span.name, bounded(head.name));
    to.integer(span.kind, kinds[head.kind]);
    to.nanoseconds(span.startTime, head.startMs);
    to.nanoseconds(span.endTime, head.endMs);
    to.fixed32(span.flags, identity.flags | hasIsRemote | (head.isParentRemote ? isRemote : 0));
  }

  attribute(name: AttributeName, value: AttributeValue): void {
    writeAttribute(this.to, span.attributes, name, value);
  }

  /** Ends the span; `error` is the message for a span with an error, and can be empty. */
  close(error: string | undefined): void {
    const { to } = this;
    if (error !== undefined) {
      const status = to.open(span.status);
      if (error !== "") to.text(statusFields.message, bounded(error));
      to.integer(statusFields.code, statusError);
      to.close(status);
    }
    to.close(this.begun);
  }
}
