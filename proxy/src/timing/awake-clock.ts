/** How often the clock is looked at while it is watched. */
const beatMs = 500;
/** Lateness of a look that is ordinary: the process was busy. */
const slackMs = 500;

/**
 * A clock that stands still while the process cannot run: stopped, starved of its processor, or held up by itself. What
 * peers are given time for is measured with it, so that such a pause is not taken for their slowness
 * (docs/operations.md, "Timeouts"). Steps of up to a second are time like any other.
 */
export class AwakeClock {
  private readonly realMs: () => number;
  /** The pauses that were noticed, in milliseconds. */
  lostMs = 0;
  private lookedAtMs = 0;
  private watchers = 0;
  private beat: NodeJS.Timeout | undefined = undefined;

  /** `realMs`: milliseconds of a clock that never goes back. */
  constructor(realMs: () => number) {
    this.realMs = realMs;
  }

  /** Milliseconds, less those of all pauses that were noticed; may go back when one is. */
  get nowMs(): number {
    return this.realMs() - this.lostMs;
  }

  /** What this clock shows when the real one shows `realMs`. */
  at(realMs: number): number {
    return realMs - this.lostMs;
  }

  /** Notices pauses from now on; the answer ends that, once. */
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

  /** Notices a pause that has just ended. To be called before anything is judged by the time that it took. */
  look(): void {
    if (this.watchers === 0) return;
    const nowMs = this.realMs();
    const gapMs = nowMs - this.lookedAtMs;
    this.lookedAtMs = nowMs;
    if (gapMs > beatMs + slackMs) this.lostMs += gapMs - beatMs;
  }
}

/** That of this thread; watched as long as a proxy runs. */
export const awake = new AwakeClock(() => performance.now());
