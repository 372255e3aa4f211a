import type { TracedRequest } from "../exchange/traced-request.ts";
import { attemptSpan } from "./attempt-span.ts";
import { requestSpan } from "./request-span.ts";
import type { SpanRecord, TraceIdentity } from "./span-record.ts";

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
