import { awake } from "../../src/timing/awake-clock.ts";

/** Controls `performance.now()`, by which fronts measure time limits: it stops until a test advances it. */
export type HeldClock = {
  advance(byMs: number): void;
  /** Advances the clock until the promise resolves. */
  passing<T>(happened: Promise<T>): Promise<T>;
};

const { now } = performance;

/**
 * Stops the clock during each test of the describe block that calls this, so that no time limit expires on its own. The
 * time by which a test advances it does not count as a pause of the process, not even for a proxy of another test.
 */
export function holdClock(): HeldClock {
  const { look } = awake;
  let nowMs = 0;
  let lostMs = 0;
  beforeEach(() => {
    ({ lostMs } = awake);
    // Whole milliseconds add up exactly, so that a limit is reached to the millisecond; pauses before are subtracted.
    nowMs = Math.ceil(now.call(performance));
    awake.lostMs = Math.ceil(lostMs);
    performance.now = () => nowMs;
    awake.look = () => {};
  });
  afterEach(() => {
    performance.now = now;
    awake.look = look;
    // The next observation reads the real time again, not that of the test.
    awake.look();
    awake.lostMs = lostMs;
  });
  return {
    advance: (byMs) => (nowMs += byMs),
    async passing(happened) {
      const timer = setInterval(() => (nowMs += 10), 1);
      try {
        return await happened;
      } finally {
        clearInterval(timer);
      }
    },
  };
}
