import type { RefusalError } from "@svc-gateway/common/telemetry/refusals/refusal-reasons.ts";
import type { GapSweep } from "./gap-sweep.ts";
import type { OutgoingBody } from "./outgoing-body.ts";
import { UpstreamGaps } from "./upstream-gaps.ts";
import type { AttemptNote } from "./upstream-notes.ts";
import { UpstreamTimer, type UpstreamTimeouts } from "./upstream-timer.ts";

/**
 * Times one attempt: enforces the limits of its route (docs/features/timeouts.md), and records the times for the log or
 * the trace. An attempt without limits and records has no such object.
 */
export class AttemptTimes {
  /** Set on routes that limit the gaps between reads and writes. */
  readonly gaps: UpstreamGaps | undefined;
  /** Set on routes that limit the time of their upstreams. */
  private readonly timer: UpstreamTimer | undefined;
  /** Set if the log or the trace shows attempts. */
  private readonly note: AttemptNote | undefined;

  /** `expired` is called when a limit is exceeded. */
  constructor(
    limits: UpstreamTimeouts | undefined,
    note: AttemptNote | undefined,
    expired: (error: RefusalError) => void,
    sweep: GapSweep,
  ) {
    this.note = note;
    if (limits === undefined) return;
    this.timer = new UpstreamTimer(limits, expired);
    if (limits.readGapMs === undefined && limits.sendGapMs === undefined) return;
    this.gaps = new UpstreamGaps(limits, expired, sweep);
  }

  /** Observes how the request body is sent. */
  follow(body: OutgoingBody): void {
    const { timer, gaps } = this;
    if (timer === undefined) return;
    body.onEnded = () => {
      timer.requestSent();
      gaps?.requestSent();
    };
    if (gaps !== undefined) body.onPace = (isBlocked) => gaps.blocked(isBlocked);
  }

  /** Called when the request is assigned to a connection, possibly more than once. */
  connected(reused: boolean, hasBody: boolean): void {
    this.note?.connected(reused);
    this.timer?.connected(hasBody);
    this.gaps?.connected(hasBody);
  }

  /** Called when an interim response has arrived. */
  informed(): void {
    this.gaps?.informed();
  }

  /** Called when the head of the response has arrived. */
  answered(status: number): void {
    this.timer?.responseBegan();
    this.note?.answered(status);
    this.gaps?.received(true);
  }

  /** Called when a piece of the response has arrived; `more` is false if reading pauses. */
  received(more: boolean): void {
    this.gaps?.received(more);
  }

  /** Called when reading of the response continues after a pause. */
  resumed(): void {
    this.gaps?.resumed();
  }

  /** Called when all of the response has been read. */
  read(): void {
    this.gaps?.stop();
  }

  /** Called when the connection becomes a tunnel. */
  upgraded(): void {
    this.timer?.stop();
    this.note?.answered(101);
  }

  /** Called when the tunnel begins, and when bytes have passed through it. */
  relayed(): void {
    this.gaps?.relayed();
  }

  failed(error: string, text: string): void {
    this.note?.failed(error, text);
  }

  /** Called when the tunnel has ended. */
  end(): void {
    this.note?.ended();
  }

  /** Called when the attempt has ended. */
  stop(): void {
    this.timer?.stop();
    this.gaps?.stop();
    this.note?.ended();
  }
}
