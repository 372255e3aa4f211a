import type { RefusalError } from "@svc-gateway/common/telemetry/refusals/refusal-reasons.ts";
import type { GapSweep, SweptWait } from "./gap-sweep.ts";

/** Limits on gaps in milliseconds; undefined: none. */
export type GapLimits = {
  /** Between two reads of the response. */
  readonly readGapMs?: number | undefined;
  /** Without the upstream taking anything of a request that waits to be sent. */
  readonly sendGapMs?: number | undefined;
};

const readError = "upstream read timeout";
const never = Number.POSITIVE_INFINITY;

/**
 * Measures how long one attempt has waited for its upstream: until it takes more of the request, then until it sends more of
 * the response. Only the upstream's own slowness counts: the clock stops while the client sends its body slowly or does not
 * read the response. No timer runs per piece: a sweep compares the beginning of the present wait with the limits
 * (gap-sweep.ts). See docs/features/timeouts.md, "Gaps".
 */
export class UpstreamGaps implements SweptWait {
  /** Its place in the sweep, the sweep's to set. */
  sweepIndex = -1;
  private readonly limits: GapLimits;
  private readonly onExpire: (error: RefusalError) => void;
  private readonly sweep: GapSweep;
  /** When the present wait began, on the clock of the sweep. */
  private waitingSinceMs = never;
  private limitMs = never;
  private error: RefusalError = readError;
  private hasBegun = false;

  constructor(limits: GapLimits, onExpire: (error: RefusalError) => void, sweep: GapSweep) {
    this.limits = limits;
    this.onExpire = onExpire;
    this.sweep = sweep;
  }

  /** True while the upstream is waited for. */
  get isRunning(): boolean {
    return this.waitingSinceMs !== never;
  }

  /** Called when the request is on a connection, perhaps not its first one. */
  connected(hasBody: boolean): void {
    this.sweep.add(this);
    this.hasBegun = false;
    if (hasBody) this.rest();
    else this.requestSent();
  }

  /** Called when the upstream takes no more of the request, and when it takes more again. */
  blocked(isBlocked: boolean): void {
    if (this.hasBegun) return;
    if (isBlocked) this.wait(this.limits.sendGapMs, "upstream send timeout");
    else this.rest();
  }

  /** Called when the whole request has been passed to the connection. */
  requestSent(): void {
    if (!this.hasBegun) this.awaitRead();
  }

  /** Called when an interim response has been read. */
  informed(): void {
    if (this.error === readError && this.isRunning) this.awaitRead();
  }

  /** Called when something has been read from the upstream; `more` says whether it is read on. */
  received(more: boolean): void {
    this.hasBegun = true;
    if (more) this.awaitRead();
    else this.rest();
  }

  /** Called when the upstream is read again after a pause. */
  resumed(): void {
    if (this.hasBegun) this.awaitRead();
  }

  /** Called when bytes were relayed in either direction of an upgraded connection, and when it begins. */
  relayed(): void {
    this.wait(this.limits.readGapMs, "idle timeout");
  }

  /** Called when the attempt has ended. */
  stop(): void {
    this.rest();
    this.sweep.delete(this);
  }

  /** Ends the attempt when its upstream has been waited for too long. */
  check(nowMs: number): void {
    if (nowMs - this.waitingSinceMs < this.limitMs) return;
    this.stop();
    this.onExpire(this.error);
  }

  private awaitRead(): void {
    this.wait(this.limits.readGapMs, readError);
  }

  private wait(limitMs: number | undefined, error: RefusalError): void {
    if (limitMs === undefined || this.sweepIndex < 0) return this.rest();
    this.waitingSinceMs = this.sweep.nowMs;
    this.limitMs = limitMs;
    this.error = error;
  }

  private rest(): void {
    this.waitingSinceMs = never;
  }
}
