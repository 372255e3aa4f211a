import { realNowMs } from "./real-clock.ts";

/** The interval at which the clock observes the real one while it is watched. */
const beatMs = 500;
/** The lateness of an observation up to which the process was merely busy. */
const slackMs = 500;

/**
 * A clock that stops while the process cannot run because it is suspended, has no processor, or blocks its event loop.
 * The time limits of peers are measured with it, so that such a pause is not mistaken for slowness of a peer
 * (docs/operations.md, "Timeouts"). Gaps of up to a second are not pauses, and count as time.
 */
export class AwakeClock {
  private readonly realMs: () => number;
  /** The sum of all detected pauses, in milliseconds. */
  lostMs = 0;
  private lookedAtMs = 0;
  private watchers = 0;
  private beat: NodeJS.Timeout | undefined = undefined;

  /** `realMs` returns the milliseconds of a monotonic clock. */
  constructor(realMs: () => number) {
    this.realMs = realMs;
  }

  /** The time in milliseconds, without all detected pauses; goes back when a pause is detected. */
  get nowMs(): number {
    return this.realMs() - this.lostMs;
  }

  /** The time of this clock when the real one shows `realMs`. */
  at(realMs: number): number {
    return realMs - this.lostMs;
  }

  /** Starts to detect pauses. Returns a function that ends this watch. */
  watch(): () => void {
    if (this.watchers++ === 0) {
      this.lookedAtMs = this.realMs();
      this.beat = setInterval(() => this.look(), beatMs).unref();
    }
    let isWatching = true;
    return () => {
      if (!isWatching) return;
      isWatching = false;
      if (--this.watchers === 0) clearInterval(this.beat);
    };
  }

  /** Detects a pause that has just ended. Called before elapsed time is compared with a limit. */
  look(): void {
    if (this.watchers === 0) return;
    const nowMs = this.realMs();
    const gapMs = nowMs - this.lookedAtMs;
    this.lookedAtMs = nowMs;
    if (gapMs > beatMs + slackMs) this.lostMs += gapMs - beatMs;
  }
}

/** The awake clock of this thread; watched while a proxy runs. */
export const awake = new AwakeClock(realNowMs);
