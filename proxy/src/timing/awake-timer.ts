import { awake } from "./awake-clock.ts";

/** The lateness of a timer above which the process was busy, and has possibly not read data that has arrived. */
const busyMs = 10;

/**
 * A timer on the awake clock. After a pause, timers of a process are due before it has read the data that arrived
 * meanwhile. The timer is therefore extended by the lost time, at most by its whole duration at a time, and a late
 * timer expires only after the event loop has read data that has arrived.
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

  /** Stops the timer; has no effect if it has expired. */
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
