import { awake } from "./awake-clock.ts";

/** When a timer is later than this, the process was busy and may not have read what has arrived. */
const busyMs = 10;

/**
 * A timer on the awake clock. A process that could not run finds timers due before it reads what has arrived meanwhile, so
 * lost time is added, at most the whole time again, and a late timer lets arrived data be read before it expires.
 */
export class AwakeTimer {
  private readonly expired: () => void;
  private readonly ms: number;
  private lostMs = 0;
  private dueMs = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(expired: () => void, ms: number) {
    this.expired = expired;
    this.ms = ms;
    this.set(ms);
  }

  /** Ends the wait; harmless when it is over. */
  clear(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private set(ms: number): void {
    this.lostMs = awake.lostMs;
    this.dueMs = awake.nowMs + ms;
    this.timer = setTimeout(this.onDue, ms);
  }

  private readonly onDue = (): void => {
    awake.look();
    const lostMs = awake.lostMs - this.lostMs;
    if (lostMs > 0) this.set(Math.min(lostMs, this.ms));
    else if (awake.nowMs - this.dueMs > busyMs) setImmediate(this.onLast);
    else this.onLast();
  };

  private readonly onLast = (): void => {
    if (this.timer === undefined) return;
    this.timer = undefined;
    this.expired();
  };
}
