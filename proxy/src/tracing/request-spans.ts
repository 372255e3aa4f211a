import type { TracedRequest } from "../exchange/traced-request.ts";
import { writeAttemptSpan } from "./attempt-span.ts";
import { writeRequestSpan } from "./request-span.ts";
import { SpanWriter } from "./span-writer.ts";
import type { TraceIdentity } from "./trace-identity.ts";

/** Copies a record with the spans of one request (encoded-spans.ts). Returns false if there is no room. */
export type SpanSink = (record: Uint8Array) => boolean;

/** The writer of this worker. */
const writer = new SpanWriter();

/**
 * Passes the span of a request and those of its attempts to a sink.
 *
 * @returns the number of dropped spans, for which the sink had no room: all or none
 */
export function writeSpans(request: TracedRequest, identity: TraceIdentity, sink: SpanSink): number {
  // The clocks are compared when the request ends, because they can drift apart while the machine sleeps.
  const offsetMs = Date.now() - performance.now();
  writer.begin();
  writeRequestSpan(writer, request, identity, offsetMs);
  const attempts = request.notes?.all ?? [];
  for (const [index, note] of attempts.entries()) {
    writeAttemptSpan(writer, request, note, { identity, index, offsetMs });
  }
  return sink(writer.finish()) ? 0 : 1 + attempts.length;
}
