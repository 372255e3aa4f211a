import type { RefusalError } from "@svc-gateway/common/telemetry/refusals/refusal-reasons.ts";
import type { GapSweep } from "./gap-sweep.ts";
import type { OutgoingBody } from "./outgoing-body.ts";
import { UpstreamGaps } from "./upstream-gaps.ts";
import type { AttemptNote } from "./upstream-notes.ts";
import { UpstreamTimer, type UpstreamTimeouts } from "./upstream-timer.ts";

/**
 * Everything that follows the time of one attempt: the limits of its route (docs/features/timeouts.md), and what its log or
 * trace shows of it. An attempt that has neither has no such object.
 */
export class AttemptTimes {
  /** Set on routes that limit the gaps between reads and writes. */
  readonly gaps: UpstreamGaps | undefined;
  /** Set on routes that limit the time of their upstreams. */
  private readonly timer: UpstreamTimer | undefined;
  /** Set where the log or the trace shows attempts. */
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

  /** Follows how the body leaves. */
  follow(body: OutgoingBody): void {
    const { timer, gaps } = this;
    if (timer === undefined) return;
    body.onEnded = () => {
      timer.requestSent();
      gaps?.requestSent();
    };
    if (gaps !== undefined) body.onPace = (isBlocked) => gaps.blocked(isBlocked);
  }

  /** The request is on a connection, perhaps not its first one. */
  connected(reused: boolean, hasBody: boolean): void {
    this.note?.connected(reused);
    this.timer?.connected(hasBody);
    this.gaps?.connected(hasBody);
  }

  /** An interim response has come. */
  informed(): void {
    this.gaps?.informed();
  }

  /** The head of the response has come. */
  answered(status: number): void {
    this.timer?.responseBegan();
    this.note?.answered(status);
    this.gaps?.received(true);
  }

  /** A piece of the response has come; `more` says whether it is read on. */
  received(more: boolean): void {
    this.gaps?.received(more);
  }

  /** The response is read again after a pause. */
  resumed(): void {
    this.gaps?.resumed();
  }

  /** All of the response has been read. */
  read(): void {
    this.gaps?.stop();
  }

  /** The connection becomes a tunnel. */
  upgraded(): void {
    this.timer?.stop();
    this.note?.answered(101);
  }

  /** Bytes have passed through the tunnel, or it begins. */
  relayed(): void {
    this.gaps?.relayed();
  }

  failed(error: string, text: string): void {
    this.note?.failed(error, text);
  }

  /** The tunnel has ended. */
  end(): void {
    this.note?.ended();
  }

  /** The attempt is over. */
  stop(): void {
    this.timer?.stop();
    this.gaps?.stop();
    this.note?.ended();
  }
}
