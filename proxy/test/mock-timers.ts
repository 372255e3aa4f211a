import { mock } from "node:test";

/**
 * Replaces `setTimeout` in each test of the describe block that calls this: timers fire when the test calls
 * `mock.timers.tick`.
 */
export function mockTimers(): void {
  beforeEach(() => mock.timers.enable({ apis: ["setTimeout"] }));
  afterEach(() => {
    try {
      // A timer that is cleared after the reset would remove one of the next test.
      mock.timers.runAll();
    } finally {
      mock.timers.reset();
    }
  });
}
