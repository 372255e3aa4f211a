import { realNowMs } from "./real-clock.ts";

/** How often the clock observes the real one while it is watched. */
const beatMs = 500;
/** The lateness of an observation that is ordinary: the process was busy. */
const slackMs = 500;

/**
 * A clock that stops while the process cannot run: stopped, without a processor, or blocked by itself. The time limits of
 * peers are measured with it, so that such a pause is not taken for slowness of a peer
 * (docs/operations.md, "Timeouts"). Steps of up to a second are time like any other.
 */
export class AwakeClock {
  private readonly realMs: () => number;
  /** The sum of the pauses that were detected, in milliseconds. */
  lostMs = 0;
  private lookedAtMs = 0;
  private watchers = 0;
  private beat: NodeJS.Timeout | undefined = undefined;

  /** `realMs`: milliseconds of a clock that never goes back. */
  constructor(realMs: () => number) {
    this.realMs = realMs;
  }

  /** Milliseconds without those of all detected pauses; may go back when a pause is detected. */
  get nowMs(): number {
    return this.realMs() - this.lostMs;
  }

  /** The time of this clock when the real one shows `realMs`. */
  at(realMs: number): number {
    return realMs - this.lostMs;
  }

  /** Detects pauses from now on; calling the result ends that, once. */
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
