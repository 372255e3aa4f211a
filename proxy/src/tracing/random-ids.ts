import { newRequestId } from "../message/request-id.ts";

const noTrace = "0".repeat(32);

/** Returns a random trace id, never the invalid one of zeros. */
export function newTraceId(): string {
  for (;;) {
    const id = newRequestId();
    if (id !== noTrace) return id;
  }
}

/** Returns a random span id, never the invalid one of zeros. */
export function newSpanId(): string {
  for (;;) {
    const id = newRequestId().slice(0, 16);
    if (!noTrace.startsWith(id)) return id;
  }
}
