import type { RefusalError } from "@svc-gateway/common/telemetry/refusals/refusal-reasons.ts";
import type { GapSweep, SweptWait } from "./gap-sweep.ts";

/** Limits on gaps in milliseconds; undefined for no limit. */
export type GapLimits = {
  /** The longest time between two reads of the response. */
  readonly readGapMs?: number | undefined;
  /** The longest time in which the upstream accepts nothing of a request that waits to be sent. */
  readonly sendGapMs?: number | undefined;
};

const readError = "upstream read timeout";
const never = Number.POSITIVE_INFINITY;

/**
 * Measures how long one attempt has waited for its upstream: to accept more of the request, then to send more of the
 * response. Only slowness of the upstream counts: the clock stops while the client sends its body slowly or does not
 * read the response. There is no timer per piece; a sweep compares the start of the current wait with the limits
 * (gap-sweep.ts). See docs/features/timeouts.md, "Gaps".
 */
export class UpstreamGaps implements SweptWait {
  /** The index in the sweep, which alone sets it. */
  sweepIndex = -1;
  private readonly limits: GapLimits;
  private readonly onExpire: (error: RefusalError) => void;
  private readonly sweep: GapSweep;
  /** When the current wait began, on the clock of the sweep. */
  private waitingSinceMs = never;
  private limitMs = never;
  private error: RefusalError = readError;
  private hasBegun = false;

  constructor(limits: GapLimits, onExpire: (error: RefusalError) => void, sweep: GapSweep) {
    this.limits = limits;
    this.onExpire = onExpire;
    this.sweep = sweep;
  }

  /** Whether the attempt is waiting for its upstream. */
  get isRunning(): boolean {
    return this.waitingSinceMs !== never;
  }

  /** Called when the request is assigned to a connection, possibly more than once. */
  connected(hasBody: boolean): void {
    this.sweep.add(this);
    this.hasBegun = false;
    if (hasBody) this.rest();
    else this.requestSent();
  }

  /** Called when the upstream stops accepting the request, and when it accepts more again. */
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

  /** Called when something has been read from the upstream; `more` is false if reading pauses. */
  received(more: boolean): void {
    this.hasBegun = true;
    if (more) this.awaitRead();
    else this.rest();
  }

  /** Called when the upstream is read again after a pause. */
  resumed(): void {
    if (this.hasBegun) this.awaitRead();
  }

  /** Called when an upgraded connection begins, and when bytes were relayed over it in either direction. */
  relayed(): void {
    this.wait(this.limits.readGapMs, "idle timeout");
  }

  /** Called when the attempt has ended. */
  stop(): void {
    this.rest();
    this.sweep.delete(this);
  }

  /** Ends the attempt if it has waited for its upstream for too long. */
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
