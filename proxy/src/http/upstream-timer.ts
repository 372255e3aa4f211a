/** Limits of one upstream request in milliseconds; undefined: none. */
export type UpstreamTimeouts = {
  /** From the end of the request to the head of the response. */
  readonly readTimeoutMs?: number | undefined;
  /** From the connection to the end of the request. */
  readonly sendTimeoutMs?: number | undefined;
};

/**
 * Times one upstream request: first how long it takes to send, then how long the response takes to begin. Only one of
 * the two runs at a time, and none once the response has begun. See docs/features/timeouts.md.
 */
export class UpstreamTimer {
  private readonly limits: UpstreamTimeouts;
  private readonly onExpire: (error: string) => void;
  private timer: NodeJS.Timeout | undefined = undefined;
  private done = false;

  constructor(limits: UpstreamTimeouts, onExpire: (error: string) => void) {
    this.limits = limits;
    this.onExpire = onExpire;
  }

  /** The request is on a connection, perhaps not on its first one. */
  connected(hasBody: boolean): void {
    if (hasBody) this.run(this.limits.sendTimeoutMs, "upstream send timeout");
    else this.requestSent();
  }

  /** The whole request has been handed over. */
  requestSent(): void {
    this.run(this.limits.readTimeoutMs, "upstream read timeout");
  }

  /** The response has begun, or will never come. */
  stop(): void {
    this.done = true;
    clearTimeout(this.timer);
  }

  private run(limitMs: number | undefined, error: string): void {
    clearTimeout(this.timer);
    if (limitMs === undefined || this.done) return;
    this.timer = setTimeout(() => this.onExpire(error), limitMs);
  }
}
