import type { RefusalError } from "@svc-gateway/common/telemetry/refusals/refusal-reasons.ts";
import { AwakeTimer } from "../timing/awake-timer.ts";

/** Limits of one upstream request in milliseconds; undefined for no limit. */
export type UpstreamTimeouts = {
  /** From the beginning of the attempt to the end of the response. */
  readonly backendTimeoutMs?: number | undefined;
  /** From the end of the request to the head of the response. */
  readonly readTimeoutMs?: number | undefined;
  /** From the connection to the end of the request. */
  readonly sendTimeoutMs?: number | undefined;
  /** For opening a connection; undefined to use the limit of the endpoint. */
  readonly connectTimeoutMs?: number | undefined;
  /** The status if no connection is established in time; undefined for 502. */
  readonly connectTimeoutStatus?: number | undefined;
  /** The limits on gaps: see upstream-gaps.ts. */
  readonly readGapMs?: number | undefined;
  readonly sendGapMs?: number | undefined;
};

/**
 * Limits the time of one upstream request: first for sending it, then for the response to begin. Only one of the two
 * timers runs at a time, and none once the response has begun. A separate timer limits the whole attempt. See
 * docs/features/timeouts.md.
 */
export class UpstreamTimer {
  private readonly limits: UpstreamTimeouts;
  private readonly onExpire: (error: RefusalError) => void;
  private timer: AwakeTimer | undefined = undefined;
  private readonly whole: AwakeTimer | undefined;
  private hasBegun = false;

  constructor(limits: UpstreamTimeouts, onExpire: (error: RefusalError) => void) {
    this.limits = limits;
    this.onExpire = onExpire;
    this.whole =
      limits.backendTimeoutMs === undefined
        ? undefined
        : new AwakeTimer(() => onExpire("upstream request timeout"), limits.backendTimeoutMs);
  }

  /** Called when the request is assigned to a connection, possibly more than once. */
  connected(hasBody: boolean): void {
    if (hasBody) this.run(this.limits.sendTimeoutMs, "upstream send timeout");
    else this.requestSent();
  }

  /** Called when the whole request has been passed to the connection. */
  requestSent(): void {
    this.run(this.limits.readTimeoutMs, "upstream read timeout");
  }

  /** Called when the response has begun. */
  responseBegan(): void {
    this.hasBegun = true;
    this.timer?.clear();
  }

  /** Called when the response has ended, or will never arrive. */
  stop(): void {
    this.responseBegan();
    this.whole?.clear();
  }

  private run(limitMs: number | undefined, error: RefusalError): void {
    this.timer?.clear();
    if (limitMs === undefined || this.hasBegun) return;
    this.timer = new AwakeTimer(() => this.onExpire(error), limitMs);
  }
}
