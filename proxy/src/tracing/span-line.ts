/** Spans on their way to the main thread: those of one request in one line of JSON. */
import type { TracedRequest } from "../exchange/traced-request.ts";
import { attemptSpan } from "./attempt-span.ts";
import { requestSpan } from "./request-span.ts";
import type { SpanLine, SpanRecord, TraceIdentity } from "./span-record.ts";

/** The span of a request and those of its attempts. */
export function spansOf(request: TracedRequest, identity: TraceIdentity): readonly SpanRecord[] {
  // The clocks are compared at the end: they may drift apart while the machine sleeps.
  const offsetMs = Date.now() - performance.now();
  const attempts = request.notes?.all ?? [];
  return [
    requestSpan(request, identity, offsetMs),
    ...attempts.map((note, index) => attemptSpan(request, note, { identity, index, offsetMs })),
  ];
}

export const spanLine = ({ traceId, flags, caller }: TraceIdentity, spans: readonly SpanRecord[]): string => {
  const line: SpanLine = { traceId, flags, state: caller?.state ?? "", spans };
  return `${JSON.stringify(line)}\n`;
};

export const parseSpanLine = (line: string): SpanLine => JSON.parse(line) as SpanLine;
