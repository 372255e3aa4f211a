import type { TracedRequest } from "../exchange/traced-request.ts";
import { writeAttemptSpan } from "./attempt-span.ts";
import { writeRequestSpan } from "./request-span.ts";
import { SpanWriter } from "./span-writer.ts";
import type { TraceIdentity } from "./trace-identity.ts";

/** Takes the record of the spans of one request (encoded-spans.ts) before the next one is written; false when there is no room. */
export type SpanSink = (record: Uint8Array) => boolean;

/** Each worker has its own. */
const writer = new SpanWriter();

/**
 * Hands a sink the span of a request and those of its attempts.
 *
 * @returns how many spans it had no room for: all or none
 */
export function writeSpans(request: TracedRequest, identity: TraceIdentity, sink: SpanSink): number {
  // The clocks are compared at the end: they may drift apart while the machine sleeps.
  const offsetMs = Date.now() - performance.now();
  writer.begin();
  writeRequestSpan(writer, request, identity, offsetMs);
  const attempts = request.notes?.all ?? [];
  for (const [index, note] of attempts.entries()) {
    writeAttemptSpan(writer, request, note, { identity, index, offsetMs });
  }
  return sink(writer.finish()) ? 0 : 1 + attempts.length;
}
