import type { FrontEvent } from "./events.ts";
import type { HalfCloseProbe } from "./half-close-probe.ts";

/** A request that waits for its response, as a sweep sees it. */
type SweptRequest = {
  /** `stalled`: the client has sent nothing of it for the body timeout. */
  readonly body: { readonly stalled: boolean; abort(reason: "timeout"): void } | null;
  closeAfterResponse(): void;
  probe(): void;
};

/** Ends a request whose body does not arrive, and asks a half-closed connection whether its client is still there. */
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
