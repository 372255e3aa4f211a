import type { FrontEvent } from "./events.ts";
import type { HalfCloseProbe } from "./half-close-probe.ts";

/** A request that waits for its response, as seen by a sweep. */
type SweptRequest = {
  /** `stalled` is true if the client has sent nothing of the body for the body timeout. */
  readonly body: { readonly stalled: boolean; abort(reason: "timeout"): void } | null;
  closeAfterResponse(): void;
  probe(): void;
};

/** Ends a request whose body does not arrive, and probes a half-closed connection. */
export function sweepRequest(
  request: SweptRequest,
  connection: {
    readonly probe: HalfCloseProbe | undefined;
    report(event: Omit<FrontEvent, "connection">): void;
  },
  nowMs: number,
): void {
  if (request.body?.stalled === true) {
    connection.report({ reason: "body-timeout", status: 0 });
    request.closeAfterResponse();
    request.body.abort("timeout");
  } else if (connection.probe?.isDue(nowMs) === true) {
    request.probe();
  }
}
